import type { Domain, ItemKey, Wire } from '../../model/item.ts'
import type { Outcome } from '../../model/outcome.ts'
import { parseAnswer } from './parse-answer.ts'
import { classifyFailure } from '../call-failure.ts'
import { createNetworkTransport, type Transport } from '../transport.ts'

/** How the service is reached. */
export interface Connection {
  /** Base address without `/v2`. */
  url: string
  token: string
  timeoutMs: number
  /** Item → wire name, where they differ. */
  itemKeys: Record<ItemKey, string>
  /** Takes secrets (the token among them) out of a text. */
  scrub(text: string): string
  /** How calls get there; over this machine's network unless it says otherwise. */
  transport?: Transport
}

/** The service's interfaces. */
export interface Client {
  /** One `POST /domain/config`. Never throws: whatever comes of it is an outcome. */
  write(domains: Domain[], config: Record<ItemKey, Wire>): Promise<Outcome>
}

/**
 * A client of the service (specification, "POST /domain/config", "Authentication"). The token
 * travels in the body.
 */
export function createClient(connection: Connection): Client {
  const wireNames = new Map(Object.entries(connection.itemKeys))
  const itemNames = new Map([...wireNames].map(([item, name]) => [name, item]))
  return {
    write: async (domains, config) => {
      const named = Object.fromEntries(
        Object.entries(config).map(([item, payload]) => [wireNames.get(item) ?? item, payload]),
      )
      const body = JSON.stringify({
        token: connection.token,
        domains: domains.join(','),
        config: named,
      })
      return post(connection, body, (name) => itemNames.get(name) ?? name)
    },
  }
}

async function post(
  connection: Connection,
  body: string,
  itemOf: (wireName: string) => ItemKey,
): Promise<Outcome> {
  const { url, timeoutMs, scrub, transport = createNetworkTransport() } = connection
  try {
    return parseAnswer(
      await transport({ url: `${url}/v2/domain/config`, body, timeoutMs }),
      itemOf,
      scrub,
    )
  } catch (error) {
    return classifyFailure(error)
  }
}
