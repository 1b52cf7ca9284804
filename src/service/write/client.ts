import type { Domain, ItemKey, Wire } from '../../core/model/item.ts'
import { type Json, type JsonObject, isObject, getOwn } from '../../core/model/json.ts'
import type { Outcome } from '../../core/model/outcome.ts'
import {
  classifyFailure,
  explainNotAccepted,
  explainNotOffered,
  explainUnreached,
} from '../call-failure.ts'
import { type ShowMessage, isClientError, parseEnvelope } from '../envelope.ts'
import { createNetworkTransport, type Transport, type Answer } from '../transport.ts'
import { withheldMessage, type SecretHider } from '../../core/model/secret.ts'

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
  /** Removes secrets, including the token, from a text of the service. */
  scrub: SecretHider['scrub']
  /** Transport of the calls; the network of this machine by default. */
  transport?: Transport
}

/** Write interface of the service. */
export interface Client {
  /**
   * Sends one `POST /domain/config`. Never throws: every result is an outcome.
   *
   * @param secrets those of the configuration: a message of the service that may quote one is
   *   withheld; null if it may quote another one, so that each is withheld
   */
  write(domains: Domain[], config: Record<ItemKey, Wire>, secrets?: Secrets): Promise<Outcome>
  /**
   * Unsets items by one `DELETE /domain/config`, which only some accounts offer. Never throws.
   *
   * @param secrets as for `write`
   */
  unset(domains: Domain[], items: ItemKey[], secrets?: Secrets): Promise<Outcome>
}

type Secrets = readonly string[] | null

/**
 * Creates a client of the service (specification, "POST /domain/config", "Authentication"). The
 * token is sent in the body.
 */
export function createClient(connection: Connection): Client {
  const wireNames = new Map(Object.entries(connection.itemKeys))
  const getName = (item: ItemKey) => wireNames.get(item) ?? item
  const createShow = (domains: Domain[], config: Json, secrets: Secrets = []): ShowMessage => {
    const { scrub } = connection
    if (secrets?.length === 0)
      return (text) => scrub(text, [domains.join(), JSON.stringify(config)])
    const names = new Set([...domains, ...wireNames.values(), ...(connection.names ?? [])])
    return (text, status, code) =>
      secrets === null || scrub(text, [domains.join()]) !== text || mayQuote(text, secrets)
        ? withholdMessage(text, status, code, names)
        : text
  }
  const buildBody = (domains: Domain[], config: Json) =>
    JSON.stringify({ token: connection.token, domains: domains.join(','), config })
  return {
    write: (domains, config, secrets) => {
      const named = Object.entries(config).map(([item, payload]) => [getName(item), payload])
      const sent = new Map(Object.keys(config).map((item) => [getName(item), item]))
      const payload = Object.fromEntries(named) as JsonObject
      const findItem = (name: string) => sent.get(name) ?? name
      const show = createShow(domains, payload, secrets)
      return send(connection, 'POST', buildBody(domains, payload), findItem, show)
    },
    unset: async (domains, items, secrets) => {
      const names = items.map(getName)
      const show = createShow(domains, names, secrets)
      const outcome = await send(connection, 'DELETE', buildBody(domains, names), getName, show)
      // Nothing is left of the items, whatever the answer has.
      return outcome.kind === 'confirmed' ? { ...outcome, config: {} } : outcome
    },
  }
}

async function send(
  connection: Connection,
  method: 'POST' | 'DELETE',
  body: string,
  findItem: (wireName: string) => ItemKey,
  show: ShowMessage,
): Promise<Outcome> {
  const { url, writtenUrl = url, timeoutMs, transport = createNetworkTransport() } = connection
  const request = { url: `${url}/v2/domain/config`, body, timeoutMs }
  const isPost = method === 'POST'
  const explain = isPost ? explainNotAccepted : explainNotOffered
  try {
    const answer = await transport(isPost ? request : { ...request, method })
    const outcome = parseAnswer(answer, findItem, show, method)
    return outcome.kind === 'refused' && outcome.fatal
      ? { ...outcome, message: explain(writtenUrl, outcome.status, outcome.message) }
      : outcome
  } catch (error) {
    const outcome = classifyFailure(error)
    return outcome.kind === 'not sent'
      ? { ...outcome, message: explainUnreached(writtenUrl, outcome.message) }
      : outcome
  }
}

/** Tests whether a message may quote a secret of less than 8 characters, or a word of a secret. */
function mayQuote(text: string, secrets: readonly string[]): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []
  const hasWord = (lower: string) => words.some((word) => lower.includes(word))
  return secrets.some((each) => each.length < 8 || hasWord(each.toLowerCase()))
}

/** Maximum number of names to show of a message. */
const maxNames = 10

/**
 * Returns what may be shown of a message about a write with a secret: status, code, and the known
 * names in it, as `HTTP 400, code 7, visit_timestamp, key (message withheld: may quote a secret)`.
 *
 * @param names names of domains, items and fields
 */
export function withholdMessage(
  text: string,
  status: number,
  code: number | null,
  names: ReadonlySet<string>,
): string {
  // The name of a wildcard domain begins with a dot.
  const found = [...text.matchAll(/\.?(\w(?:[\w.-]*\w)?)/g)].flatMap(([whole, word = '']) =>
    names.has(whole)
      ? [whole]
      : names.has(word)
        ? [word]
        : word.split(/[.-]/).filter((part) => names.has(part)),
  )
  const shown = [...new Set(found)].slice(0, maxNames)
  const facts = [`HTTP ${status}`, ...(code === null ? [] : [`code ${code}`]), ...shown]
  return `${facts.join(', ')} ${withheldMessage}`
}

/**
 * Parses the answer to a write (specification, "Errors", "Limits", "POST /domain/config"). An
 * answer that does not clearly state the result leaves the write in-doubt.
 *
 * @param findItem returns the item of a wire name
 * @param show returns what may be shown of the message of the service
 * @param method of the call; some accounts do not offer `DELETE`
 */
export function parseAnswer(
  answer: Answer,
  findItem: (wireName: string) => ItemKey,
  show: ShowMessage = (text) => text,
  method: 'POST' | 'DELETE' = 'POST',
): Outcome {
  const { status } = answer
  const { body, code, message, retryAfterMs, limits } = parseEnvelope(answer, show, fallback)
  const createInDoubt = (why: string): Outcome => ({
    kind: 'in-doubt',
    message: why,
    ...(limits.remaining === null ? {} : { limits }),
  })
  if (status === 429) return { kind: 'throttled', message, retryAfterMs, limits }
  const refuse = (fatal: boolean): Outcome => {
    return { kind: 'refused', status, code, message, fatal, limits }
  }
  // No call is accepted; a gateway may block only some by 403.
  if (status === 401 || status === 404 || (status === 403 && code !== null)) return refuse(true)
  // The account does not offer the method.
  if (method === 'DELETE' && (status === 405 || code === 401_006)) return refuse(true)
  if (status >= 300 && status < 400)
    return createInDoubt(
      `the service answered with a redirect (HTTP ${status}), which is not followed`,
    )
  if (body === null || code === null)
    return isClientError(status) ? refuse(false) : createInDoubt(message)
  if (status >= 500) return createInDoubt(`the service answered HTTP ${status}: ${message}`)
  if (status === 200 && code === 0)
    return {
      kind: 'confirmed',
      config: parseConfig(body, findItem),
      domains: parseDomains(body),
      limits,
    }
  if (code === 0) return createInDoubt(`the service answered code 0 with HTTP ${status}`)
  return refuse(false)
}

const fallback: Record<number, string> = {
  401: 'the token is wrong, or it may not write configurations',
  403: 'the token may not write configurations',
  404: 'there is no such interface at this address',
  429: 'too many calls in this minute',
}

/** Parses the resulting configuration under `data.config`, keyed by item. */
function parseConfig(
  body: JsonObject,
  findItem: (wireName: string) => ItemKey,
): Record<ItemKey, Json> {
  const data = getOwn(body, 'data')
  const config = data !== undefined && isObject(data) ? getOwn(data, 'config') : undefined
  if (config === undefined || !isObject(config)) return {}
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [findItem(name), value]))
}

/**
 * Parses the `domains` array: inside `data` for most items, at the top level for `combined_ban`.
 */
function parseDomains(body: JsonObject): { id: string; domain: string }[] {
  const data = getOwn(body, 'data')
  const inside = data !== undefined && isObject(data) ? getOwn(data, 'domains') : undefined
  const list = inside ?? getOwn(body, 'domains')
  if (!Array.isArray(list)) return []
  return list.flatMap((entry) => {
    if (!isObject(entry) || typeof entry['domain'] !== 'string') return []
    const id = entry['id']
    return typeof id === 'string' || typeof id === 'number'
      ? [{ id: String(id), domain: entry['domain'] }]
      : []
  })
}
