import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { JsonText, type EmulatorAnswer, type EmulatorRequest } from '../routes/exchange.ts'
import { buildRefusalBody, Refusal } from '../routes/refusal.ts'
import { formatDate } from '../../model/http-date.ts'
import { readBody } from './read-body.ts'

type Answer = (request: EmulatorRequest) => Promise<EmulatorAnswer>

/** Creates an HTTP server, not listening yet, that answers every request with `answer`. */
export function createListener(answer: Answer, now: () => number): Server {
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000 },
    (incoming, outgoing) => {
      serve(incoming, outgoing, answer, now).catch((error: unknown) => fail(outgoing, error))
    },
  )
  server.on('clientError', (error: Error, socket: Socket) => refuseUnreadable(error, socket, now()))
  return server
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: Answer,
  now: () => number,
): Promise<void> {
  const arrivedAt = now()
  outgoing.setHeader('Date', formatDate(arrivedAt))
  const body = await readBody(incoming)
  if (body === null) return
  if (body === 'too large') outgoing.setHeader('Connection', 'close')
  deliver(outgoing, await answer(buildRequest(incoming, body, arrivedAt)))
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

function send(outgoing: ServerResponse, { status, headers, body }: EmulatorAnswer): void {
  const text = encodeBody(body)
  outgoing.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': text.length,
  })
  outgoing.end(text)
}

/** Sends an answer, or simulates its faulty delivery. */
function deliver(outgoing: ServerResponse, answer: EmulatorAnswer): void {
  switch (answer.delivery) {
    case undefined:
      return send(outgoing, answer)
    case 'reset':
      outgoing.socket?.resetAndDestroy()
      return
    case 'truncated':
      return truncate(outgoing, answer)
    case 'not-json':
      outgoing.writeHead(answer.status, {
        ...answer.headers,
        'Content-Type': 'text/html; charset=utf-8',
      })
      outgoing.end('<html><body><h1>It works!</h1></body></html>')
  }
}

/** Closes the connection in the middle of the body. */
function truncate(outgoing: ServerResponse, { status, headers, body }: EmulatorAnswer): void {
  const text = encodeBody(body)
  outgoing.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': text.length,
  })
  outgoing.write(text.subarray(0, text.length / 2), () => outgoing.destroy())
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
  else send(outgoing, { status: refusal.status, headers: {}, body: buildRefusalBody(refusal) })
}

/** Refuses with the envelope what cannot be parsed as HTTP. */
function refuseUnreadable(error: Error, socket: Socket, now: number): void {
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
}
