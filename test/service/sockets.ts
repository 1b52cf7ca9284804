import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach } from 'vitest'

const open: { server: Server; sockets: Set<Socket> }[] = []

/**
 * Listens on a free port of this machine and returns its number. Connections may break; {@link
 * closeAfterEach} ends them.
 */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) =>
    sockets.add(socket.on('error', () => socket.destroy())),
  )
  open.push({ server, sockets })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Closes all servers and connections after each test of a file. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const { server, sockets } of open.splice(0)) {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  })
}

/** Finds a port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}
