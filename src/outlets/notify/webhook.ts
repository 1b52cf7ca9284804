import { createHmac } from 'node:crypto'
import type { Message, Notification } from './notification.ts'

/**
 * Builds the message of a webhook: the notification as JSON, signed if there is a key.
 *
 * @param secret empty for no signature
 * @param sentAt time of the attempt, ms since 1970
 */
export function formatWebhook(notification: Notification, secret: string, sentAt: number): Message {
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
