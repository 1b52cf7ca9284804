import type { ApprovalFile } from '../../core/model/generated/state-types.ts'
import { approvalFile } from '../../core/model/generated/state-validators.ts'
import { EdgewiseError, type ErrorCode } from '../../core/model/edgewise-error.ts'
import { isObject, parseJson } from '../../core/model/json.ts'
import { checkStored } from '../../core/model/text/stored-file.ts'
import { isLoopback, parseUrl } from '../../core/model/text/url.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { createDispatcher } from '../../service/proxy.ts'
import { createNetworkTransport } from '../../service/transport.ts'
import type { Io } from '../io.ts'

/** Variable with the token of OpenID Connect that shows who approves. */
const tokenVariable = 'EDGEWISE_ID_TOKEN'
/** Longest answer, bytes, and longest wait for it, ms: the server plans again. */
const [maxBytes, timeoutMs] = [64 * 1024, 120_000]
/** Errors of the server that keep their code; others are unavailable. */
const codes: ErrorCode[] = ['not-allowed', 'stale-plan', 'usage', 'access', 'invalid']

/**
 * Asks an `edgewise serve` for the approval of a plan, by its roles.
 *
 * @param server address of its HTTP interface
 * @param plan text of the plan file, and its digest
 * @throws EdgewiseError as the server does, `usage`, `unavailable`
 */
export async function approveAtServer(
  server: string,
  plan: { text: string; digest: string },
  { env, signal }: Pick<Io, 'env' | 'signal'>,
): Promise<ApprovalFile> {
  const token = (env[tokenVariable] ?? '').trim()
  if (!/^[!-~]+$/.test(token))
    throw new EdgewiseError(
      'access',
      `no token shows who approves: ${tokenVariable} is not set, or has blanks`,
      'Set it to a token of OpenID Connect that the server accepts; see docs/guides/people.md.',
    )
  const url = `${parseServer(server)}/api/plans/approvals`
  const send = createNetworkTransport(await createDispatcher(url, env))
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const request = { url, headers, body: plan.text, timeoutMs, maxBytes, signal }
  const answer = await send(request).catch((error: unknown) => {
    if (!(error instanceof Error)) throw error
    const { cause } = error
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : error.message
    throw new EdgewiseError('unavailable', `the server gave no answer: ${reason}`)
  })
  const body = parseJson(answer.body)
  const checked = answer.status === 200 ? checkStored(body, approvalFile) : null
  if (checked !== null && 'value' in checked && checked.value.plan === plan.digest)
    return checked.value
  throw createServerError(answer.status, isObject(body) ? body : {})
}

/** Returns the origin of the server: the token goes over https, except on this machine. */
function parseServer(text: string): string {
  const url = parseUrl(text)
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  if (url !== null && isSafe && url.origin === text.replace(/\/$/, '').toLowerCase())
    return url.origin
  throw new EdgewiseError(
    'usage',
    'expected for --server an address such as https://edgewise.example.com, without a path',
    'It begins with https://, or with http:// for this machine only.',
  )
}

function createServerError(status: number, body: Record<string, unknown>): EdgewiseError {
  const read = (key: string) =>
    typeof body[key] === 'string' ? escapeInvisible(body[key]).slice(0, 1000) : ''
  const code = codes.find((each) => each === body['code']) ?? 'unavailable'
  const reason = read('message') || `it answered with status ${status} and no approval`
  return new EdgewiseError(code, `the server approved nothing: ${reason}`, read('hint'))
}
