import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { getOwn, type Json } from '../../core/model/json.ts'
import { unknownDomain, type Limits } from '../../core/model/outcome.ts'
import { markForeign, type ForeignText } from '../../core/model/text/text-makers.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type { Connection } from '../write/client.ts'
import { isClientError, parseEnvelope } from '../envelope.ts'
import { classifyFailure, explainNotAccepted, explainUnreached } from '../call-failure.ts'
import { refuseInterrupted, type QueryPace } from './query-pace.ts'
import { createNetworkTransport } from '../transport.ts'
import { quoteAnswer } from './wrong-answer.ts'

/** A refusal of the parameters of a query, other than an unknown domain. */
export class RefusedQueryError extends EdgewiseError {}

/** A refusal because the account does not have a domain. */
export class UnknownDomainError extends EdgewiseError {}

/** Connection, pace and clock shared by queries. */
export interface QueryContext {
  connection: Connection
  pace: QueryPace
  clock: Clock
  /** The service's time, ms since 1970; null if it is unknown. */
  serviceNow(): number | null
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
  /** Subject for messages, such as `statistics`. */
  what: string
}

type Reply =
  | { kind: 'answered'; data: Json; limits: Limits }
  | { kind: 'refused'; error: EdgewiseError; limits: Limits }
  | { kind: 'throttled'; message: string; waitMs: number | null; limits: Limits }
  | { kind: 'failed'; message: string; limits?: Limits }

const maxFailures = 5
const maxThrottled = 10
/**
 * Size of the largest valid answer: ten domains, 31 days of five minutes and 30 status codes, each
 * some dozen bytes.
 */
const maxBytes = 64 * 1024 * 1024

/**
 * Queries the service, with the token in the query string (specification, "Authentication" 1).
 * Queries are safe to repeat: a failed one is retried after a growing pause. No error contains the
 * address of the query, which has the token.
 *
 * @param parse of `data` of an answer with code 0
 * @throws EdgewiseError `access` for HTTP 401 or 403, `service-refused` for another refusal,
 *   `service-failed` after several failed attempts, `declined` when interrupted
 */
export async function query<T>(
  wanted: Query,
  context: QueryContext,
  parse: (data: Json) => T,
): Promise<T> {
  const data = await queryData(wanted, context)
  try {
    return parse(data)
  } catch (error) {
    const sent = Object.values(wanted.parameters)
    throw quoteAnswer(error, (text) => context.connection.scrub(text, sent))
  }
}

async function queryData(wanted: Query, context: QueryContext): Promise<Json> {
  const { pace, clock, signal } = context
  let failures = 0
  let throttled = 0
  for (;;) {
    await pace.acquire(signal)
    const reply = await attempt(wanted, context)
    pace.release(reply.limits)
    refuseInterrupted(signal)
    if (reply.kind === 'answered') return reply.data
    if (reply.kind === 'refused') throw reply.error
    if (reply.kind === 'throttled') {
      if (++throttled >= maxThrottled) throw createFailedError(wanted, throttled, reply.message)
      pace.pause(reply.waitMs)
    } else {
      if (++failures >= maxFailures) throw createFailedError(wanted, failures, reply.message)
      await clock.sleep(computePause(failures, context.random()), signal)
    }
  }
}

async function attempt(wanted: Query, { connection, signal }: QueryContext): Promise<Reply> {
  const { url, writtenUrl = url, token, timeoutMs, scrub } = connection
  const { transport = createNetworkTransport() } = connection
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
      (text) => scrub(removeEncoded(text, token), Object.values(wanted.parameters)),
      words,
    )
    const { status } = answer
    if (status === 429) return { kind: 'throttled', message, waitMs: retryAfterMs, limits }
    const refuse = (error: EdgewiseError): Reply => ({ kind: 'refused', error, limits })
    if (status === 401 || (status === 403 && code !== null))
      return refuse(createPermissionError(wanted, writtenUrl, status, message))
    if (status === 404) {
      const reason = explainNotAccepted(writtenUrl, status, message)
      return refuse(new EdgewiseError('service-refused', reason))
    }
    const fail = (why: string): Reply => ({ kind: 'failed', message: why, limits })
    if (status >= 300 && status < 400)
      return fail(`the service answered with a redirect (HTTP ${status}), which is not followed`)
    if (body === null || code === null) {
      if (isClientError(status))
        return refuse(new EdgewiseError('service-refused', `${wanted.what}: ${message}`))
      return fail(message)
    }
    if (status >= 500) return fail(`the service answered HTTP ${status}: ${message}`)
    return status === 200 && code === 0
      ? { kind: 'answered', data: getOwn(body, 'data') ?? null, limits }
      : refuse(createRefusedError(wanted, status, code, message))
  } catch (error) {
    // Report only the kind of failure: the error itself may contain the address.
    const outcome = classifyFailure(error)
    const message = 'message' in outcome ? outcome.message : 'the call failed'
    return {
      kind: 'failed',
      message: outcome.kind === 'not sent' ? explainUnreached(writtenUrl, message) : message,
    }
  }
}

/** Removes the encoded token: a service may quote the address of the query. */
function removeEncoded(text: ForeignText, token: string): ForeignText {
  const [sent, form] = [
    encodeURIComponent(token),
    new URLSearchParams({ token }).toString().slice('token='.length),
  ]
  const lower = sent.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
  const clean = [sent, lower, form].reduce((rest, each) => rest.replaceAll(each, '(token)'), text)
  return markForeign(clean)
}

const words: Record<number, string> = {
  401: 'the token is wrong, or this interface is not enabled for it',
  404: 'there is no such interface at this address',
  429: 'too many calls',
}

/** Specification, "Authentication" 3: a token that may write may lack permission for a query. */
function createPermissionError(
  { what }: Query,
  url: string,
  status: number,
  message: string,
): EdgewiseError {
  return new EdgewiseError(
    'access',
    `the token lacks permission for ${what} (HTTP ${status}): ${message}`,
    `Not accepted by ${url}: check EDGEWISE_TOKEN (service.token in edgewise.yaml). Each ` +
      `interface needs its own permission: ask the operator to enable ${what} for this token.`,
  )
}

function createRefusedError(
  { what, parameters }: Query,
  status: number,
  code: number | null,
  message: string,
): EdgewiseError {
  if (code !== unknownDomain || parameters['domains'] === undefined) {
    const coded = code === null ? '' : `, code ${code}`
    return new RefusedQueryError(
      'service-refused',
      `the service refused the query for ${what} (HTTP ${status}${coded}): ${message}`,
    )
  }
  const queried = parameters['domains'].split(',')
  const named = queried.filter((domain) => message.toLowerCase().includes(`(${domain})`))
  const which = named.length > 0 ? named : queried
  return new UnknownDomainError(
    'service-refused',
    `the service does not know ${which.length > 1 ? 'one of ' : ''}${which.join(', ')} (code ` +
      `${unknownDomain}: ${message})`,
    'Only domains of this account have an answer. Remove the domain, or check its spelling.',
  )
}

function createFailedError({ what }: Query, attempts: number, message: string): EdgewiseError {
  return new EdgewiseError(
    'service-failed',
    `the query for ${what} failed after ${attempts} attempts: ${message}`,
    'Nothing was changed. Try again later.',
  )
}

/**
 * Computes a pause of about 1, 2, 4 or 8 seconds, spread so that clients do not retry at the same
 * moment.
 */
function computePause(failures: number, chance: number): number {
  return 1000 * 2 ** (failures - 1) * (0.5 + chance / 2)
}
