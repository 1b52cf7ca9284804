import type { IncomingMessage } from 'node:http'
import { maxBodyBytes } from '../routes/exchange.ts'

/**
 * Maximum bytes to read and drop of a body that is too large: a client that is still sending may
 * miss the answer.
 */
const maxReadBytes = 16 * maxBodyBytes

/**
 * Reads the body of a request; null if the client closed the connection before its end, `no memory`
 * if other requests hold it.
 */
export function readBody(
  request: IncomingMessage,
  held: HeldBytes,
): Promise<Uint8Array | 'too large' | 'no memory' | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBodyBytes) {
        chunks.length = 0
        held.release()
        if (size > maxReadBytes) resolve('too large')
      } else if (held.add(chunk.length)) chunks.push(chunk)
      else resolve('no memory')
    })
    request.on('end', () => resolve(size > maxBodyBytes ? 'too large' : Buffer.concat(chunks)))
    request.on('error', () => resolve(null))
    request.on('close', () => resolve(null))
  })
}

/** Bytes that one request holds: its body, and its answer until it is sent. */
export interface HeldBytes {
  /** Holds more bytes; returns false if the budget is too small for them. */
  add(bytes: number): boolean
  /** Releases all of its bytes. */
  release(): void
}

/** Limits the bytes that all requests hold together. */
export class MemoryBudget {
  readonly #max: number
  #held = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Begins a request. A request that is alone may hold more than the budget. */
  open(): HeldBytes {
    let own = 0
    return {
      add: (bytes) => {
        if (this.#held > own && this.#held + bytes > this.#max) return false
        own += bytes
        this.#held += bytes
        return true
      },
      release: () => {
        this.#held -= own
        own = 0
      },
    }
  }
}
