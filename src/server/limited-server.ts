import { createServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { sendAnswer, type Answer } from './answer.ts'
import { discard } from './drain.ts'
import { limitConnections, type ConnectionLimits } from './limit-connections.ts'

/** Limits of what clients can occupy, ms. */
export interface HttpLimits extends ConnectionLimits {
  /** Time for the headers of a request, and for the whole of it. */
  headersMs: number
  requestMs: number
  /** Time without a byte in either direction, also while an answer is made. */
  idleMs: number
  /** Interval at which these times are checked. */
  checkMs: number
  /** Time for running requests when the server closes. */
  closeMs: number
  /** Time for the rest of a body that was refused. */
  lingerMs: number
}

const defaultLimits: HttpLimits = {
  headersMs: 5000,
  requestMs: 5000,
  idleMs: 120_000,
  checkMs: 1000,
  closeMs: 5000,
  lingerMs: 2000,
  connections: 256,
  share: 32,
}

/** An HTTP server whose clients can't occupy it. */
export interface LimitedServer {
  /**
   * Listens, and returns the port; port 0 picks a free one.
   *
   * @param option that chooses the port
   * @throws EdgewiseError `usage` when the address can't be used
   */
  listen(port: number, host: string, option?: string): Promise<number>
  /** Ends idle connections, waits some seconds for running requests, then ends those as well. */
  close(): Promise<void>
}

/** Creates an HTTP server, not listening yet. */
export function createLimitedServer(
  answer: (incoming: IncomingMessage) => Promise<Answer>,
  limits = defaultLimits,
): LimitedServer {
  let isClosing = false
  const busy = new WeakSet<Socket>()
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
    },
    (incoming, outgoing) => {
      const { socket } = incoming
      // A client that sends requests without waiting for their answers would pile both up.
      if (busy.has(socket)) return void socket.destroy()
      busy.add(socket)
      outgoing.on('close', () => busy.delete(socket))
      void answer(incoming).then((answered) => {
        // A body that was refused is discarded for a while: a reset could overtake the answer.
        const isUnread = !incoming.complete
        const end = isUnread ? discard(incoming, limits.lingerMs) : null
        sendAnswer(outgoing, answered, { isLast: isClosing || isUnread, end })
      })
      outgoing.on('error', () => outgoing.destroy())
    },
  )
  limitConnections(server, limits)
  // A client that reads no answer would keep its connection for ever.
  server.setTimeout(limits.idleMs)
  return {
    listen: (port, host, option = '--port') =>
      new Promise((resolve, reject) => {
        const fail = ({ code = '' }: NodeJS.ErrnoException) =>
          reject(
            new EdgewiseError(
              'usage',
              `the server can't listen on ${host}, port ${port} (${code})`,
              `Choose another --host or ${option}.`,
            ),
          )
        server.once('error', fail)
        server.listen(port, host, () => {
          server.off('error', fail)
          const address = server.address()
          resolve(typeof address === 'object' && address !== null ? address.port : port)
        })
      }),
    close: () =>
      new Promise((resolve) => {
        isClosing = true
        const timer = setTimeout(() => server.closeAllConnections(), limits.closeMs)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}
