import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { JsonText, type EmulatorAnswer, type EmulatorRequest } from '../routes/exchange.ts'
import { buildRefusalBody, Refusal } from '../routes/refusal.ts'
import { readBody } from './read-body.ts'

type Answer = (request: EmulatorRequest) => Promise<EmulatorAnswer>

/** An HTTP server, not listening yet, that answers every request with `answer`. */
export function createListener(answer: Answer, now: () => number): Server {
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000 },
    (incoming, outgoing) => {
      serve(incoming, outgoing, answer, now).catch((error: unknown) => fail(outgoing, error))
    },
  )
  server.on('clientError', refuseUnreadable)
  return server
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: Answer,
  now: () => number,
): Promise<void> {
  const arrivedAt = now()
  const body = await readBody(incoming)
  if (body === null) return
  if (body === 'too large') outgoing.setHeader('Connection', 'close')
  deliver(outgoing, await answer(requestOf(incoming, body, arrivedAt)))
}

function requestOf(
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
    body,
    peer: socket.remoteAddress ?? '',
    arrivedAt,
  }
}

function send(outgoing: ServerResponse, { status, headers, body }: EmulatorAnswer): void {
  const text = bytesOf(body)
  outgoing.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': text.length,
  })
  outgoing.end(text)
}

/** Sends an answer, or what becomes of it where something is to go wrong on the way. */
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

/** The connection ends in the middle of the body. */
function truncate(outgoing: ServerResponse, { status, headers, body }: EmulatorAnswer): void {
  const text = bytesOf(body)
  outgoing.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': text.length,
  })
  outgoing.write(text.subarray(0, text.length / 2), () => outgoing.destroy())
}

function bytesOf(body: EmulatorAnswer['body']): Buffer {
  return Buffer.from(body instanceof JsonText ? body.text : JSON.stringify(body))
}

/** A defect of the emulator ends one call, not the process. */
function fail(outgoing: ServerResponse, error: unknown): void {
  const refusal = new Refusal(
    'emulator-failed',
    `the emulator failed: ${error instanceof Error ? error.message : String(error)}`,
  )
  if (outgoing.headersSent) outgoing.destroy()
  else send(outgoing, { status: refusal.status, headers: {}, body: buildRefusalBody(refusal) })
}

/** What can't be read as HTTP has no route, and still gets the envelope. */
function refuseUnreadable(error: Error, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = bytesOf(
    buildRefusalBody(new Refusal('body-malformed', `expected an HTTP request: ${error.message}`)),
  )
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]))
}
