import type { Outcome } from '../model/outcome.ts'

/** Failures after which it is certain that no byte of the write left this machine for the service. */
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_UNTRUSTED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

const words: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the name of the service could not be resolved',
  EAI_AGAIN: 'the name of the service could not be resolved for now',
  EHOSTUNREACH: 'the host of the service is not reachable',
  EADDRNOTAVAIL: 'this machine can not connect to that address and port',
  ENETUNREACH: 'the network of the service is not reachable',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection broke',
  EPIPE: 'the connection broke',
  TimeoutError: 'no answer came in time',
  AbortError: 'the call was given up',
}

/** What a call that brought no answer means: never left, or in doubt. */
export function readFailure(error: unknown): Outcome {
  const codes = codesOf(error)
  const code = codes[0] ?? 'unknown'
  const sentence =
    words[code] ??
    (code.includes('CERT') || code.includes('TLS') ? `the service's certificate was not accepted (${code})` : `the call failed (${code})`)
  const neverLeft = codes.length > 0 && codes.every((each) => beforeSending.has(each))
  return neverLeft ? { kind: 'not sent', message: sentence } : { kind: 'in doubt', message: sentence }
}

/** The codes of an error's causes: `fetch` wraps them, and a host with several addresses has one for each. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(codesOf)
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return [error.name]
  const code = (error as NodeJS.ErrnoException).code
  if (typeof code === 'string') return [code]
  if (error.cause !== undefined) return codesOf(error.cause)
  return error.message === 'bad port' ? ['EADDRNOTAVAIL'] : []
}
