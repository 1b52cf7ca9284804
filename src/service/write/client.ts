import type { Domain, ItemKey, Wire } from '../../model/item.ts'
import type { Outcome } from '../../model/outcome.ts'
import { parseAnswer } from './parse-answer.ts'
import { withholdMessage } from './withhold-message.ts'
import { classifyFailure } from '../call-failure.ts'
import type { ShowMessage } from '../envelope.ts'
import { explainNotAccepted, explainUnreached } from '../explain-access.ts'
import { createNetworkTransport, type Transport } from '../transport.ts'

/** Connection to the service. */
export interface Connection {
  /** Base address, without `/v2`. */
  url: string
  /** The address in messages; absent: the same. */
  writtenUrl?: string
  token: string
  timeoutMs: number
  /** Item → wire name, where they differ. */
  itemKeys: Record<ItemKey, string>
  /** Names of items and fields, which may be shown of a message that is withheld. */
  names?: readonly string[]
  /** Removes secrets, including the token, from a foreign text. */
  scrub(text: string): string
  /** Transport of the calls; the network of this machine by default. */
  transport?: Transport
}

/** Write interface of the service. */
export interface Client {
  /**
   * Sends one `POST /domain/config`. Never throws: every result is an outcome.
   *
   * @param hasSecret whether the configuration has a secret: messages of the service, which may
   *   quote it in any form, are withheld then
   */
  write(domains: Domain[], config: Record<ItemKey, Wire>, hasSecret?: boolean): Promise<Outcome>
}

/**
 * Creates a client of the service (specification, "POST /domain/config", "Authentication"). The
 * token is sent in the body.
 */
export function createClient(connection: Connection): Client {
  const wireNames = new Map(Object.entries(connection.itemKeys))
  return {
    write: async (domains, config, hasSecret = false) => {
      const named = Object.fromEntries(
        Object.entries(config).map(([item, payload]) => [wireNames.get(item) ?? item, payload]),
      )
      const body = JSON.stringify({
        token: connection.token,
        domains: domains.join(','),
        config: named,
      })
      const names = new Set([...domains, ...wireNames.values(), ...(connection.names ?? [])])
      const show: ShowMessage = hasSecret
        ? (text, status, code) => withholdMessage(text, status, code, names)
        : (text) => connection.scrub(text)
      const sent = new Map(Object.keys(config).map((item) => [wireNames.get(item) ?? item, item]))
      return post(connection, body, (name) => sent.get(name) ?? name, show)
    },
  }
}

async function post(
  connection: Connection,
  body: string,
  findItem: (wireName: string) => ItemKey,
  show: ShowMessage,
): Promise<Outcome> {
  const { url, writtenUrl = url, timeoutMs, transport = createNetworkTransport() } = connection
  try {
    const answer = await transport({ url: `${url}/v2/domain/config`, body, timeoutMs })
    const outcome = parseAnswer(answer, findItem, show)
    return outcome.kind === 'refused' && outcome.fatal
      ? { ...outcome, message: explainNotAccepted(writtenUrl, outcome.status, outcome.message) }
      : outcome
  } catch (error) {
    const outcome = classifyFailure(error)
    return outcome.kind === 'not sent'
      ? { ...outcome, message: explainUnreached(writtenUrl, outcome.message) }
      : outcome
  }
}
