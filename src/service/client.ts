import type { Domain, ItemKey, Wire } from '../model/item.ts'
import type { Outcome } from '../model/outcome.ts'
import { readAnswer } from './read-answer.ts'
import { readFailure } from './read-failure.ts'

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
  /** Dispatcher of the calls where a proxy stands between; of undici's kind. */
  dispatcher?: RequestInit['dispatcher']
}

/** The service's interfaces. */
export interface Client {
  /** One `POST /domain/config`. Never throws: whatever comes of it is an outcome. */
  write(domains: Domain[], config: Record<ItemKey, Wire>): Promise<Outcome>
}

const mostBytes = 4 * 1024 * 1024

/** A client of the service (specification, "POST /domain/config", "Authentication"). The token travels in the body. */
export function createClient(connection: Connection): Client {
  const wireNames = new Map(Object.entries(connection.itemKeys))
  const itemNames = new Map([...wireNames].map(([item, name]) => [name, item]))
  return {
    write: async (domains, config) => {
      const named = Object.fromEntries(Object.entries(config).map(([item, payload]) => [wireNames.get(item) ?? item, payload]))
      const body = JSON.stringify({ token: connection.token, domains: domains.join(','), config: named })
      return post(connection, body, (name) => itemNames.get(name) ?? name)
    },
  }
}

async function post(connection: Connection, body: string, itemOf: (wireName: string) => ItemKey): Promise<Outcome> {
  try {
    const request: RequestInit = {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(connection.timeoutMs),
    }
    if (connection.dispatcher !== undefined) request.dispatcher = connection.dispatcher
    const response = await fetch(`${connection.url}/v2/domain/config`, request)
    const text = await boundedText(response)
    return readAnswer({ status: response.status, header: (name) => response.headers.get(name), body: text }, itemOf, connection.scrub)
  } catch (error) {
    return readFailure(error)
  }
}

/** The body as text; what is longer than any honest answer is cut, and is then no JSON. */
async function boundedText(response: Response): Promise<string> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    chunks.push(chunk as Uint8Array)
    size += (chunk as Uint8Array).byteLength
    if (size > mostBytes) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
