import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** What happens to connections: `cut` ends them, `silent` delivers nothing until it is over. */
export type GateState = 'open' | 'cut' | 'silent'

/** A way of TCP connections to a port of this machine that can be cut, or fall silent. */
export class TcpGate {
  readonly port: number
  readonly close: () => void
  #state: GateState = 'open'
  readonly #pairs = new Set<[Socket, Socket]>()

  static async start(target: number): Promise<TcpGate> {
    const server = createServer({ noDelay: true }, (client) => gate.#join(client, target))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const gate = new TcpGate(port, () => {
      server.close()
      for (const socket of [...gate.#pairs].flat()) socket.destroy()
    })
    return gate
  }

  private constructor(port: number, close: () => void) {
    this.port = port
    this.close = close
  }

  set(state: GateState): void {
    this.#state = state
    for (const pair of this.#pairs)
      for (const socket of pair) {
        if (state === 'cut') socket.destroy()
        else if (state === 'silent') socket.pause()
        else socket.resume()
      }
  }

  #join(client: Socket, target: number): void {
    if (this.#state === 'cut') return void client.destroy()
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true })
    const pair: [Socket, Socket] = [client, server]
    this.#pairs.add(pair)
    for (const [from, to] of [pair, [server, client] as const]) {
      // Written to by hand: a pipe would begin to flow again by itself.
      from.on('data', (data) => void to.write(data))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        to.destroy()
        this.#pairs.delete(pair)
      })
      if (this.#state === 'silent') from.pause()
    }
  }
}
