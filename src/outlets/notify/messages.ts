import type { NotifyConfig, ReceiverKind, NotifyEvent } from '../../core/model/config.ts'
import type { Message, Notification } from './notification.ts'
import { createHmac } from 'node:crypto'
import { describeTree } from '../../core/model/source-tree.ts'
import { countMore, listSome, mapSome } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'

/**
 * Builds a message. `secret`: key that signs it, empty for none. `sentAt`: time of the attempt, ms
 * since 1970; receivers refuse signatures of long ago.
 */
type Format = (notification: Notification, secret: string, sentAt: number) => Message

/** The receivers: a row each. */
const formats: Record<ReceiverKind, Format> = {
  webhook: formatWebhook,
  slack: formatSlack,
  teams: formatTeams,
}

/**
 * Formats a notification as its receiver expects it.
 *
 * @param sentAt time of the attempt, ms since 1970
 */
export function formatMessage(
  notification: Notification,
  { kind, secret = '' }: Pick<NotifyConfig, 'kind' | 'secret'>,
  sentAt = Date.parse(notification.time),
): Message {
  return formats[kind](notification, secret, sentAt)
}

/**
 * Builds the message of a webhook: the notification as JSON, signed if there is a key.
 *
 * @param secret empty for no signature
 * @param sentAt time of the attempt, ms since 1970
 */
function formatWebhook(notification: Notification, secret: string, sentAt: number): Message {
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
function formatSlack(notification: Notification): Message {
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

/** Builds the message of a workflow of Teams: an adaptive card. */
function formatTeams(notification: Notification): Message {
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

/** Parts that a message of a chat lists. */
const maxParts = 10
/** Longest line, UTF-16. */
const maxLine = 1000

const titles: Partial<Record<NotifyEvent, string>> = {
  refused: 'Refused',
  'in-doubt': 'In-doubt',
  drift: 'Differs',
}

/** Lists the lines of a message for people, without its link; the first one is its title. */
export function listLines(notification: Notification): string[] {
  const { title, workspace, account, apply, by, wave } = notification
  const { reason, parts, next } = notification

  const add = (name: string, text: string | null) => (text === null ? [] : [`${name}: ${text}`])
  return [
    `Edgewise: ${title}`,
    `Workspace ${workspace}, account ${account}${apply === null ? '' : `, apply ${apply}`}`,
    ...add('By', by),
    ...add('Of', describeTree(notification)),
    ...add('Wave', wave && `${wave.number} of ${wave.waves} of rollout ${wave.rollout}`),
    ...add('Domains', wave && listSome(wave.domains)),
    ...add('Reason', reason),
    ...mapSome(
      parts,
      maxParts,
      ({ event, domains, items, text }) => {
        if (items.length === 0) return `Not at the service: ${listSome(domains)}`
        const why = text === undefined ? '' : `: ${text}`
        return `${titles[event] ?? event}: ${listSome(items)} of ${listSome(domains)}${why}`
      },
      countMore,
    ),
    ...add('Next', next),
  ].map((line) => escapeInvisible(line).slice(0, maxLine))
}
