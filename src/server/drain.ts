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
