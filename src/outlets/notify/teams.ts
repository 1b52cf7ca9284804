import { listLines } from './lines.ts'
import type { Message, Notification } from './notification.ts'

/** Builds the message of a workflow of Teams: an adaptive card. */
export function formatTeams(notification: Notification): Message {
  const { url } = notification
  // A run has no Markdown: texts of others become no links.
  const blocks = listLines(notification).map((text, i) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...(i === 0 ? { weight: 'Bolder' } : {}) }],
  }))
  const actions = url === undefined ? [] : [{ type: 'Action.OpenUrl', title: 'Open', url }]
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    body: blocks,
    actions,
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  const attachments = [{ contentType, contentUrl: null, content }]
  return { body: JSON.stringify({ type: 'message', attachments }), headers: {} }
}
