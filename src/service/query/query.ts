import { EdgewiseError } from '../../model/edgewise-error.ts'
import { getOwn, type Json } from '../../model/json.ts'
import type { Limits } from '../../model/outcome.ts'
import type { Clock } from '../../model/clock.ts'
import type { Connection } from '../write/client.ts'
import { parseEnvelope } from '../envelope.ts'
import { classifyFailure } from '../call-failure.ts'
import { refuseInterrupted, type QueryPace } from './query-pace.ts'
import { createNetworkTransport } from '../transport.ts'

/** The connection, pace and clock that queries share. */
export interface QueryContext {
  connection: Connection
  pace: QueryPace
  clock: Clock
  /** In [0, 1). */
  random(): number
  signal?: AbortSignal
}

/** A GET of the service. */
export interface Query {
  /** Below `/v2`. */
  path: string
  /** Without the token. */
  parameters: Record<string, string>
  /** A word for messages, such as `statistics`. */
  what: string
}

type Reply =
  | { kind: 'answered'; data: Json; limits: Limits }
  | { kind: 'refused'; error: EdgewiseError; limits: Limits }
  | { kind: 'throttled'; message: string; waitMs: number | null; limits: Limits }
  | { kind: 'failed'; message: string }

const maxFailures = 5
const maxThrottled = 10
/**
 * The largest honest answer: ten domains, 31 days of five minutes and 30 status codes, each some
 * dozen bytes.
 */
const maxBytes = 64 * 1024 * 1024

/**
 * Queries the service, with the token in the query string (specification, "Authentication" 1). A
 * query is safe to repeat: one that fails on the way is sent again, after a growing pause. No error
 * shows the address, which holds the token.
 *
 * @returns `data` of an answer with code 0
 * @throws EdgewiseError `access` for HTTP 401, `service-refused` for another refusal,
 * `service-failed` when no answer came in
 *   several attempts, `declined` when interrupted
 */
export async function query(wanted: Query, context: QueryContext): Promise<Json> {
  const { pace, clock, signal } = context
  let failures = 0
  let throttled = 0
  for (;;) {
    await pace.acquire(signal)
    const reply = await attempt(wanted, context)
    pace.release(reply.kind === 'failed' ? undefined : reply.limits)
    refuseInterrupted(signal)
    if (reply.kind === 'answered') return reply.data
    if (reply.kind === 'refused') throw reply.error
    if (reply.kind === 'throttled') {
      if (++throttled >= maxThrottled) throw failed(wanted, throttled, reply.message)
      pace.pause(reply.waitMs)
    } else {
      if (++failures >= maxFailures) throw failed(wanted, failures, reply.message)
      await clock.sleep(pauseAfter(failures, context.random()), signal)
    }
  }
}

async function attempt(wanted: Query, { connection, signal }: QueryContext): Promise<Reply> {
  const { url, token, timeoutMs, scrub, transport = createNetworkTransport() } = connection
  try {
    const parameters = Object.entries({ ...wanted.parameters, token })
    const search = parameters
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&')
    const address = `${url}/v2${wanted.path}?${search}`
    const request = { url: address, timeoutMs, maxBytes }
    const answer = await transport({ ...request, signal })
    const { body, code, message, limits, retryAfterMs } = parseEnvelope(
      answer,
      (text) => scrub(withoutEncoded(text, token)),
      words,
    )
    const { status } = answer
    if (status === 429) return { kind: 'throttled', message, waitMs: retryAfterMs, limits }
    if (status === 401 || status === 403)
      return { kind: 'refused', error: noPermission(wanted, status, message), limits }
    if (status === 404)
      return { kind: 'refused', error: refused(wanted, status, code, message), limits }
    if (status >= 500)
      return { kind: 'failed', message: `the service answered HTTP ${status}: ${message}` }
    if (status >= 300 && status < 400)
      return {
        kind: 'failed',
        message: `the service answered with a redirect (HTTP ${status}), which is not followed`,
      }
    if (body === null)
      return {
        kind: 'failed',
        message: `the service answered HTTP ${status} with something that is not JSON`,
      }
    if (code === null)
      return {
        kind: 'failed',
        message: `the service answered HTTP ${status} without a numeric code`,
      }
    return status === 200 && code === 0
      ? { kind: 'answered', data: getOwn(body, 'data') ?? null, limits }
      : { kind: 'refused', error: refused(wanted, status, code, message), limits }
  } catch (error) {
    // Report only the kind of failure: the error itself may show the address.
    const outcome = classifyFailure(error)
    return { kind: 'failed', message: 'message' in outcome ? outcome.message : 'the call failed' }
  }
}

/** Removes the encoded token: a service may quote the address of the query. */
function withoutEncoded(text: string, token: string): string {
  const [sent, form] = [
    encodeURIComponent(token),
    new URLSearchParams({ token }).toString().slice('token='.length),
  ]
  const lower = sent.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
  return [sent, lower, form].reduce((clean, each) => clean.replaceAll(each, '(token)'), text)
}

const words: Record<number, string> = {
  401: 'the token is wrong, or this interface is not enabled for it',
  404: 'there is no such interface at this address',
  429: 'too many calls',
}

/** Specification, "Authentication" 3: a token that may write may lack permission for a query. */
function noPermission({ what }: Query, status: number, message: string): EdgewiseError {
  return new EdgewiseError(
    'access',
    `the token may not read ${what} (HTTP ${status}): ${message}`,
    `A token has permission for each interface of its own. Ask the operator to enable ${what} for this one.`,
  )
}

function refused(
  { what, parameters }: Query,
  status: number,
  code: number | null,
  message: string,
): EdgewiseError {
  if (code !== unknownDomain || parameters['domains'] === undefined) {
    const coded = code === null ? '' : `, code ${code}`
    return new EdgewiseError(
      'service-refused',
      `the service refused to read ${what} (HTTP ${status}${coded}): ${message}`,
    )
  }
  const queried = parameters['domains'].split(',')
  const named = queried.filter((domain) => message.toLowerCase().includes(`(${domain})`))
  const which = named.length > 0 ? named : queried
  return new EdgewiseError(
    'service-refused',
    `the service does not know ${which.length > 1 ? 'one of ' : ''}${which.join(', ')} (code ${unknownDomain}: ${message})`,
    'Statistics exist for domains of this account only. Leave it out, or look at how it is written.',
  )
}

/** Specification, "GET /stat/httpcode/eachDomain" 4. */
const unknownDomain = 400_101

function failed({ what }: Query, attempts: number, message: string): EdgewiseError {
  return new EdgewiseError(
    'service-failed',
    `${what} could not be read in ${attempts} attempts: ${message}`,
    'Nothing was changed. Try again later.',
  )
}

/** About 1, 2, 4 and 8 seconds, so that many clients do not come back at the same moment. */
function pauseAfter(failures: number, chance: number): number {
  return 1000 * 2 ** (failures - 1) * (0.5 + chance / 2)
}
