import type { IncomingMessage } from 'node:http'

/**
 * Reads a body to its end without holding it. Returns false if it is larger than `maxBytes`, or if
 * the connection ended before it.
 */
export function drain(
  incoming: IncomingMessage,
  maxBytes: number,
  use: (chunk: Uint8Array) => void,
): Promise<boolean> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(false)
  return new Promise((resolve) => {
    let size = 0
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) use(chunk)
      else resolve(false)
    })
    incoming.on('end', () => resolve(size <= maxBytes))
    incoming.on('error', () => resolve(false))
    incoming.on('close', () => resolve(false))
  })
}

/** Discards the rest of a body, until its end or for `maxMs`. */
export function discard(incoming: IncomingMessage, maxMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, maxMs)
    incoming.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
    incoming.resume()
  })
}

/** Reports whether a browser sends the request for a page of another host. */
export function isCrossSite({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { origin, host = '' } = headers
  if (origin === undefined) return false
  return !/^https?:\/\//i.test(origin) || origin.replace(/^https?:\/\//i, '') !== host
}

/** Longest body of a form, bytes. */
const maxFormBytes = 16 * 1024

/**
 * Reads the fields of a form. Returns null if the body is too long or ended early, and if it is no
 * form or has a field twice.
 */
export async function readForm(incoming: IncomingMessage): Promise<Map<string, string> | null> {
  const type = (incoming.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return null
  const chunks: Uint8Array[] = []
  const isWhole = await drain(incoming, maxFormBytes, (chunk) => void chunks.push(chunk))
  if (!isWhole) return null
  const pairs = [...new URLSearchParams(Buffer.concat(chunks).toString())]
  const fields = new Map(pairs)
  return fields.size === pairs.length ? fields : null
}
