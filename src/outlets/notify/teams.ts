import { listLines } from './lines.ts'
import type { Message, Notification } from './notification.ts'

/** Builds the message of a workflow of Teams: an adaptive card. */
export function formatTeams(notification: Notification): Message {
  const [title = '', ...lines] = listLines(notification)
  const block = (text: string, more: object = {}) => ({
    type: 'TextBlock',
    text,
    wrap: true,
    ...more,
  })
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    body: [block(title, { weight: 'Bolder' }), ...lines.map((text) => block(text))],
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  const attachments = [{ contentType, contentUrl: null, content }]
  return { body: JSON.stringify({ type: 'message', attachments }), headers: {} }
}
