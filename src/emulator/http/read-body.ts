import type { IncomingMessage } from 'node:http'
import { maxBodyBytes } from '../routes/exchange.ts'

/**
 * A client that is still sending may miss the answer, so that much of a body that is too large is
 * read and dropped first.
 */
const patience = 16 * maxBodyBytes

/**
 * The body of a request; null where the client went away before its end, so that nobody is left to
 * be answered.
 */
export function readBody(request: IncomingMessage): Promise<Uint8Array | 'too large' | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBodyBytes) chunks.push(chunk)
      else chunks.length = 0
      if (size > patience) resolve('too large')
    })
    request.on('end', () => resolve(size > maxBodyBytes ? 'too large' : Buffer.concat(chunks)))
    request.on('error', () => resolve(null))
    request.on('close', () => resolve(null))
  })
}
