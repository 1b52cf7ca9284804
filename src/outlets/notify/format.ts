import { createHmac } from 'node:crypto'
import type { NotifyConfig, NotifyEvent } from '../../core/model/config.ts'
import { listSome } from '../../core/model/text/words.ts'
import type { Notification } from './notification.ts'

/** Domains and items that a message names; the rest is counted. */
const maxNames = 5
/** Parts that a message of a chat lists. */
const maxParts = 10

/** Message for a receiver. */
export interface Message {
  body: string
  headers: Record<string, string>
}

/**
 * Formats a notification as its receiver expects it.
 *
 * @param sentAt time of the attempt, ms since 1970: receivers refuse signatures of long ago
 */
export function formatMessage(
  notification: Notification,
  { kind, secret = '' }: Pick<NotifyConfig, 'kind' | 'secret'>,
  sentAt = Date.parse(notification.time),
): Message {
  if (kind === 'slack') return { body: JSON.stringify(buildSlack(notification)), headers: {} }
  if (kind === 'teams') return { body: JSON.stringify(buildTeams(notification)), headers: {} }
  const body = JSON.stringify({ format: 'edgewise.notification/1', ...notification })
  return { body, headers: sign(notification.id, body, secret, sentAt) }
}

/**
 * Signs a message by the specification of Standard Webhooks: the receiver can verify who sent it,
 * and ignore one that it got before. A key with the prefix `whsec_` is decoded from base64.
 */
function sign(id: string, body: string, secret: string, sentAt: number): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1000))
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === '') return headers
  const prefix = 'whsec_'
  const key = secret.startsWith(prefix)
    ? Buffer.from(secret.slice(prefix.length), 'base64')
    : Buffer.from(secret)
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${hmac}` }
}

/** Builds the message of an incoming webhook of Slack, with a text for notifications. */
function buildSlack(notification: Notification): object {
  const [title, ...lines] = listLines(notification).map(escapeSlack)
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } })
  return {
    text: title,
    blocks: [section(`*${title}*`), ...(lines.length > 0 ? [section(lines.join('\n'))] : [])],
  }
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Builds the message of a workflow of Teams: an adaptive card. */
function buildTeams(notification: Notification): object {
  const [title, ...lines] = listLines(notification)
  const block = (text: string, more: object = {}) => ({
    type: 'TextBlock',
    text,
    wrap: true,
    ...more,
  })
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          body: [block(title ?? '', { weight: 'Bolder' }), ...lines.map((text) => block(text))],
        },
      },
    ],
  }
}

const titles: Partial<Record<NotifyEvent, string>> = {
  refused: 'Refused',
  'in-doubt': 'In-doubt',
  drift: 'Differs',
}

/** Lists the lines of a message for people; the first one is its title. */
function listLines({ title, workspace, account, apply, parts, next }: Notification): string[] {
  const more = parts.length - maxParts
  return [
    `Edgewise: ${title}`,
    `Workspace ${workspace}, account ${account}${apply === null ? '' : `, apply ${apply}`}`,
    ...parts.slice(0, maxParts).map(({ event, domains, items }) => {
      if (items.length === 0) return `Not at the service: ${listSome(domains, maxNames)}`
      const names = `${listSome(items, maxNames)} of ${listSome(domains, maxNames)}`
      return `${titles[event] ?? event}: ${names}`
    }),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(next === null ? [] : [`See: ${next}`]),
  ]
}
