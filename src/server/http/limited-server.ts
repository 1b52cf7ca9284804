import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Socket, isIPv6 } from 'node:net'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { sendAnswer, type Answer } from './answer.ts'
import { discard } from './request.ts'

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

export type LimitedServer = ReturnType<typeof createLimitedServer>

/**
 * Creates an HTTP server whose clients can't occupy it, not listening yet.
 *
 * @param answer gets a signal that the connection has closed
 */
export function createLimitedServer(
  answer: (incoming: IncomingMessage, signal: AbortSignal) => Promise<Answer>,
  limits = defaultLimits,
) {
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
      const gone = new AbortController()
      outgoing.on('close', () => {
        busy.delete(socket)
        gone.abort()
      })
      void answer(incoming, gone.signal).then((answered) => {
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
    /**
     * Listens, and returns the port; port 0 picks a free one.
     *
     * @param option that chooses the port
     * @throws EdgewiseError `usage` when the address can't be used
     */
    listen: (port: number, host: string, option = '--port'): Promise<number> =>
      listen(server, { port, host, option }),
    /** Ends idle connections, waits some seconds for running requests, then ends those as well. */
    close: (): Promise<void> => {
      isClosing = true
      return close(server, limits.closeMs)
    },
  }
}

function listen(
  server: Server,
  { port, host, option }: { port: number; host: string; option: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
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
  })
}

function close(server: Server, closeMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), closeMs)
    server.close(() => {
      clearTimeout(timer)
      resolve()
    })
    server.closeIdleConnections()
  })
}

/** Limits of the connections of a server. */
interface ConnectionLimits {
  /** Connections at the same time. */
  connections: number
  /** Connections of one address whose requests are spared when the server is full. */
  share: number
}

interface Connection {
  address: string
  /** Whether a whole request of it is being answered. */
  isWorking: boolean
}

/**
 * Makes room for each new connection of a full server: the address that has the most connections
 * loses the oldest one without a whole request. So slow clients keep nobody out, and a client whose
 * requests arrive at once is served, also from the same address, such as that of a proxy.
 */
function limitConnections(server: Server, { connections, share }: ConnectionLimits): void {
  /** Those whose state has changed longest ago come first. */
  const open = new Map<Socket, Connection>()
  const mark = (socket: Socket, isWorking: boolean): void => {
    const connection = open.get(socket)
    if (connection === undefined || !open.delete(socket)) return
    open.set(socket, { ...connection, isWorking })
  }
  server.on('connection', (socket) => {
    open.set(socket, { address: groupAddress(socket.remoteAddress ?? ''), isWorking: false })
    socket.on('close', () => open.delete(socket))
    if (open.size <= connections) return
    const victim = chooseVictim([...open], share) ?? socket
    open.delete(victim)
    victim.destroy()
  })
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming
    outgoing.on('close', () => mark(socket, false))
    if (hasBody(incoming)) incoming.on('end', () => mark(socket, true))
    else mark(socket, true)
  })
}

/** @returns null if each of them is answering an address that has no more than its share */
function chooseVictim(open: [Socket, Connection][], share: number): Socket | null {
  const counts = new Map<string, number>()
  for (const [, { address }] of open) counts.set(address, (counts.get(address) ?? 0) + 1)
  const [fullest, count] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))
  const own = open.filter(([, { address }]) => address === fullest)
  const isSlow = ([, { isWorking }]: [Socket, Connection]) => !isWorking
  const victim = own.find(isSlow) ?? (count > share ? own[0] : open.find(isSlow))
  return victim?.[0] ?? null
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Returns what one client may choose its addresses from: the network of an IPv6 address. */
export function groupAddress(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const parts = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const [start = [], end] = parts
  const zeros = end === undefined ? 0 : 8 - start.length - end.length
  const groups = [...start, ...Array.from({ length: zeros }, () => '0'), ...(end ?? [])]
  return groups.slice(0, 4).join(':')
}
