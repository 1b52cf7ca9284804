import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Tolerated difference between the time of a message and the clock, s. */
const toleranceSeconds = 300

/** Verifies the body of one message as it arrives; nothing of it is kept. */
export interface WebhookVerifier {
  update(chunk: Uint8Array): void
  /** Reports whether the message was signed with the secret. Call once, after the last chunk. */
  isSigned(): boolean
}

/**
 * Creates a verifier of a message by its headers; null if none of them can be right. The strongest
 * header decides: Standard Webhooks, then `X-Hub-Signature-256`, then `X-Gitlab-Token`.
 *
 * @param now ms since 1970
 */
export function createVerifier(
  headers: IncomingMessage['headersDistinct'],
  secret: string,
  now: number,
): WebhookVerifier | null {
  if (headers['webhook-signature'] !== undefined) return verifyStandard(headers, secret, now)
  if (headers['x-hub-signature-256'] !== undefined) {
    const sent = getOnly(headers, 'x-hub-signature-256')
    if (sent === null || !/^sha256=[\da-f]{64}$/.test(sent)) return null
    const hmac = createHmac('sha256', secret)
    return {
      update: (chunk) => void hmac.update(chunk),
      isSigned: () => areEqual(sent, `sha256=${hmac.digest('hex')}`),
    }
  }
  const token = getOnly(headers, 'x-gitlab-token')
  if (token === null) return null
  return { update: () => undefined, isSigned: () => areEqual(token, secret) }
}

function verifyStandard(
  headers: IncomingMessage['headersDistinct'],
  secret: string,
  now: number,
): WebhookVerifier | null {
  const id = getOnly(headers, 'webhook-id')
  const timestamp = getOnly(headers, 'webhook-timestamp')
  const signatures = getOnly(headers, 'webhook-signature')
  if (id === null || signatures === null || timestamp === null) return null
  if (!/^\d{1,12}$/.test(timestamp)) return null
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds) return null
  const key = decodeKey(secret)
  // Anybody can sign with an empty key.
  if (key.length === 0) return null
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`)
  return {
    update: (chunk) => void hmac.update(chunk),
    isSigned: () => {
      const expected = `v1,${hmac.digest('base64')}`
      return signatures.split(' ').some((sent) => areEqual(sent, expected))
    },
  }
}

function decodeKey(secret: string): Buffer {
  const prefix = 'whsec_'
  if (!secret.startsWith(prefix)) return Buffer.from(secret)
  return Buffer.from(secret.slice(prefix.length), 'base64')
}

/** Returns the value of a header that was sent once and is not empty, otherwise null. */
function getOnly(headers: IncomingMessage['headersDistinct'], name: string): string | null {
  const [value = '', ...others] = headers[name] ?? []
  return value === '' || others.length > 0 ? null : value
}

/** Compares two texts in a time that depends on neither content nor common length. */
export function areEqual(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}
