import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

/** A proxy of a PostgreSQL server. */
interface AnswerThief {
  /** Address of the database behind the proxy. */
  url: string
  close(): Promise<void>
}

/**
 * Starts a proxy that takes some of the answers to `commit`, and closes their connections: the
 * client can't know whether the transaction has taken effect, and it has.
 *
 * @param takes called for each `commit`
 * @param onTaken called for each answer taken
 */
export async function startAnswerThief(
  url: string,
  takes: () => boolean,
  onTaken: () => void,
): Promise<AnswerThief> {
  const { hostname, port } = new URL(url)
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname)
    const close = () => {
      client.destroy()
      server.destroy()
    }
    let isTaking = false
    client.on('data', (data) => {
      if (data.includes('commit')) isTaking = takes()
      server.write(data)
    })
    server.on('data', (data) => {
      if (!isTaking) return client.write(data)
      onTaken()
      return close()
    })
    for (const socket of [client, server]) socket.on('error', close).on('close', close)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const own = new URL(url)
  own.port = String((proxy.address() as AddressInfo).port)
  return {
    url: own.href,
    close: async () => {
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
