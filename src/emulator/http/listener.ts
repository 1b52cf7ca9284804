import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  JsonText,
  type EmulatorAnswer,
  type EmulatorRequest,
  maxBodyBytes,
} from '../routes/exchange.ts'
import { buildRefusalBody, Refusal } from '../routes/refusal.ts'
import { formatDate } from '../../core/model/time/http-date.ts'

type Answer = (request: EmulatorRequest) => Promise<EmulatorAnswer>

/** Limits of what clients can occupy. */
export interface Limits {
  /** Time for a header, and for a whole request, ms. */
  headersMs: number
  requestMs: number
  /** Interval at which these times are checked, ms. */
  checkMs: number
  /** Time for a client to receive an answer, ms. */
  answerMs: number
  /** Further connections are closed. */
  connections: number
  /** Bodies and answers of all requests together, bytes. */
  bytes: number
}

/** Limits of an emulator, for some clients on the same machine. */
export const defaultLimits: Limits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1000,
  answerMs: 60_000,
  connections: 256,
  bytes: 64 * 1024 * 1024,
}

/** Creates an HTTP server, not listening yet, that answers every request with `answer`. */
export function createListener(answer: Answer, now: () => number, limits = defaultLimits): Server {
  const memory = new MemoryBudget(limits.bytes)
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
    },
    (incoming, outgoing) => {
      const held = memory.open()
      outgoing.on('close', () => held.release())
      serve(incoming, outgoing, answer, now, held)
        .then(() => limitDelivery(outgoing, limits.answerMs))
        .catch((error: unknown) => fail(outgoing, error))
    },
  )
  server.maxConnections = limits.connections
  server.on('clientError', (error: Error, socket: Socket) => answerUnreadable(error, socket, now()))
  return server
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: Answer,
  now: () => number,
  held: HeldBytes,
): Promise<void> {
  const arrivedAt = now()
  outgoing.setHeader('Date', formatDate(arrivedAt))
  const body = await readBody(incoming, held)
  if (body === null) return
  if (typeof body === 'string') outgoing.setHeader('Connection', 'close')
  if (body === 'no memory')
    return sendRefusal(outgoing, new Refusal('emulator-busy', 'too many requests at a time'))
  const answered = await answer(buildRequest(incoming, body, arrivedAt))
  const text = encodeBody(answered.body)
  // The client may not have received earlier answers yet.
  if (held.add(text.length)) deliver(outgoing, answered, text)
  else outgoing.destroy()
}

/** Closes the connection of a client that does not receive its answer in time. */
function limitDelivery(outgoing: ServerResponse, ms: number): void {
  if (outgoing.closed) return
  const timer = setTimeout(() => outgoing.destroy(), ms).unref()
  outgoing.on('close', () => clearTimeout(timer))
}

function buildRequest(
  incoming: IncomingMessage,
  body: EmulatorRequest['body'],
  arrivedAt: number,
): EmulatorRequest {
  const { method = '', url = '', headers, socket } = incoming
  const mark = url.indexOf('?')
  return {
    method,
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? '' : url.slice(mark + 1),
    headers: Object.fromEntries(Object.entries(headers).map(([key, text]) => [key, String(text)])),
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    host: headers.host,
    origin: headers.origin,
    fetchSite: getLast(headers['sec-fetch-site']),
    body,
    peer: socket.remoteAddress ?? '',
    arrivedAt,
  }
}

function getLast(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.at(-1) : header
}

function send(outgoing: ServerResponse, answer: EmulatorAnswer, text: Buffer): void {
  writeHead(outgoing, answer, text)
  outgoing.end(text)
}

function writeHead(
  outgoing: ServerResponse,
  { status, headers }: EmulatorAnswer,
  { length }: Buffer,
): void {
  outgoing.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': length,
  })
}

/** Sends an answer, or simulates its faulty delivery. */
function deliver(outgoing: ServerResponse, answer: EmulatorAnswer, text: Buffer): void {
  switch (answer.delivery) {
    case undefined:
      return send(outgoing, answer, text)
    case 'reset':
      outgoing.socket?.resetAndDestroy()
      return
    case 'truncated':
      // The connection closes in the middle of the body.
      writeHead(outgoing, answer, text)
      outgoing.write(text.subarray(0, text.length / 2), () => outgoing.destroy())
      return
    case 'not-json':
      outgoing.writeHead(answer.status, {
        ...answer.headers,
        'Content-Type': 'text/html; charset=utf-8',
      })
      outgoing.end('<html><body><h1>It works!</h1></body></html>')
  }
}

function encodeBody(body: EmulatorAnswer['body']): Buffer {
  return Buffer.from(body instanceof JsonText ? body.text : JSON.stringify(body))
}

/** Limits a defect of the emulator to one call. */
function fail(outgoing: ServerResponse, error: unknown): void {
  const refusal = new Refusal(
    'emulator-failed',
    `the emulator failed: ${error instanceof Error ? error.message : String(error)}`,
  )
  if (outgoing.headersSent) outgoing.destroy()
  else sendRefusal(outgoing, refusal)
}

function sendRefusal(outgoing: ServerResponse, refusal: Refusal): void {
  const body = buildRefusalBody(refusal)
  send(outgoing, { status: refusal.status, headers: {}, body }, encodeBody(body))
}

/** Refuses with the envelope what cannot be parsed as HTTP. */
function answerUnreadable(error: Error, socket: Socket, now: number): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = encodeBody(
    buildRefusalBody(new Refusal('body-malformed', `expected an HTTP request: ${error.message}`)),
  )
  const head = [
    'HTTP/1.1 400 Bad Request',
    `Date: ${formatDate(now)}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]))
  // The client might never close its half.
  socket.destroySoon()
}

/**
 * Maximum bytes to read and drop of a body that is too large: a client that is still sending may
 * miss the answer.
 */
const maxReadBytes = 16 * maxBodyBytes

/**
 * Reads the body of a request; null if the client closed the connection before its end, `no memory`
 * if other requests hold it.
 */
function readBody(
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
interface HeldBytes {
  /** Holds more bytes; returns false if the budget is too small for them. */
  add(bytes: number): boolean
  /** Releases all of its bytes. */
  release(): void
}

/** Limits the bytes that all requests hold together. */
class MemoryBudget {
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
