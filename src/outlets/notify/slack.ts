import { listLines } from './lines.ts'
import type { Message, Notification } from './notification.ts'

/** Builds the message of an incoming webhook of Slack, with a text for notifications. */
export function formatSlack(notification: Notification): Message {
  const { url } = notification
  const [title, ...lines] = listLines(notification).map(escapeSlack)
  // Verbatim: addresses and names in texts of others become no links and no mentions.
  const section = (text: string) => ({
    type: 'section',
    text: { type: 'mrkdwn', text, verbatim: true },
  })
  const link = url === undefined ? [] : [`<${escapeSlack(url)}>`]
  const blocks = [`*${title}*`, ...lines, ...link].map(section)
  return { body: JSON.stringify({ text: title, blocks }), headers: {} }
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
