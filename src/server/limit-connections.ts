import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'

/** Limits of the connections of a server. */
export interface ConnectionLimits {
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
export function limitConnections(server: Server, { connections, share }: ConnectionLimits): void {
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
