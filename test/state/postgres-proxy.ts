import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A message of a client: its type, one letter, and its first texts. */
interface Message {
  type: string
  texts: string[]
}

/**
 * What happens to a message: it goes on; or the connection is cut before it, or its answer; or
 * nothing goes on for good.
 */
type Fate = 'pass' | 'cut' | 'cut-answer' | 'hold'

/** A proxy in front of a PostgreSQL server that reads what clients send, and can cut it off. */
export class PostgresProxy {
  readonly #server: Server
  /** All messages of the clients, but for the first one of each connection. */
  readonly messages: Message[] = []
  /** Bytes that the server has sent. */
  #bytes = 0
  /** Decides on each message. */
  decide: (message: Message) => Fate = () => 'pass'

  /** Starts a proxy for the server with this address. */
  static async start(url: string): Promise<PostgresProxy> {
    const { hostname, port } = new URL(url)
    const server = createServer({ noDelay: true })
    const proxy = new PostgresProxy(server)
    server.on('connection', (client) =>
      proxy.#serve(client, connect({ port: Number(port || 5432), host: hostname, noDelay: true })),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  private constructor(server: Server) {
    this.#server = server
  }

  /** Replaces host and port of an address by those of this proxy. */
  redirect(url: URL): void {
    url.hostname = '127.0.0.1'
    url.port = String((this.#server.address() as AddressInfo).port)
  }

  /** Cuts the next commit off, or its answer. */
  cutCommit(fate: Fate): void {
    this.decide = ({ texts }) => {
      if (texts[0] !== 'commit') return 'pass'
      this.decide = () => 'pass'
      return fate
    }
  }

  /** Counts the statements of the clients, and the bytes of the answers. */
  counted(): { statements: number; bytes: number } {
    // A statement with values is bound, another one is a query.
    const statements = this.messages.filter(({ type }) => type === 'Q' || type === 'B').length
    return { statements, bytes: this.#bytes }
  }

  end(): void {
    this.#server.close()
  }

  #serve(client: Socket, server: Socket): void {
    const cut = () => {
      client.destroy()
      server.destroy()
    }
    let [isFirst, isCut] = [true, false]
    let rest: Buffer = Buffer.alloc(0)
    client.on('data', (data: Buffer) => {
      rest = Buffer.concat([rest, data])
      for (;;) {
        const typeLength = isFirst ? 0 : 1
        if (rest.length < typeLength + 4) return
        const end = typeLength + rest.readInt32BE(typeLength)
        if (rest.length < end) return
        const message = rest.subarray(0, end)
        rest = rest.subarray(end)
        if (!isFirst) {
          const texts = message.toString('utf8', 5).split('\0')
          const parsed = { type: String.fromCharCode(message[0] ?? 0), texts }
          this.messages.push(parsed)
          const fate = this.decide(parsed)
          if (fate === 'cut') return cut()
          if (fate === 'hold') return
          isCut ||= fate === 'cut-answer'
        }
        isFirst = false
        server.write(message)
      }
    })
    server.on('data', (data: Buffer) => {
      this.#bytes += data.length
      if (isCut) cut()
      else client.write(data)
    })
    for (const socket of [client, server]) socket.on('close', cut).on('error', cut)
  }
}
