import { listLines } from './lines.ts'
import type { Message, Notification } from './notification.ts'

/** Builds the message of an incoming webhook of Slack, with a text for notifications. */
export function formatSlack(notification: Notification): Message {
  const [title, ...lines] = listLines(notification).map(escapeSlack)
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } })
  const blocks = [section(`*${title}*`), ...(lines.length > 0 ? [section(lines.join('\n'))] : [])]
  return { body: JSON.stringify({ text: title, blocks }), headers: {} }
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
