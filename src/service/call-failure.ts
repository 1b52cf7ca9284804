import type { Outcome } from '../core/model/outcome.ts'

/** Failures that prove that no byte of the write left this machine for the service. */
const beforeSending = new Set([
  'ECONNREFUSED',
  'PROXY_REFUSED',
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
  'CERT_REVOKED',
  'CERT_REJECTED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_CHAIN_TOO_LONG',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_UNSUPPORTED_PROTOCOL',
  'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'CERT_NOT_YET_VALID',
  'CERT_UNTRUSTED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

const words: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  PROXY_REFUSED: 'the proxy opened no connection to the service',
  ENOTFOUND: 'the name of the service could not be resolved',
  EAI_AGAIN: 'the name of the service could not be resolved for now',
  EHOSTUNREACH: 'the host of the service is not reachable',
  EADDRNOTAVAIL: 'this machine cannot connect to that address and port',
  ENETUNREACH: 'the network of the service is not reachable',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection broke',
  EPIPE: 'the connection broke',
  TimeoutError: 'no answer came in time',
  AbortError: 'the call was aborted',
}

/** Classifies a call without an answer: not sent, or in-doubt. */
export function classifyFailure(error: unknown): Outcome {
  const codes = listCodes(error)
  const code = findFailureCode(error)
  const sentence =
    words[code] ??
    (code.includes('CERT') || code.includes('TLS')
      ? `the service's certificate was not accepted (${code})`
      : `the call failed (${code})`)
  const neverLeft = codes.length > 0 && codes.every((each) => beforeSending.has(each))
  return neverLeft
    ? { kind: 'not sent', message: sentence }
    : { kind: 'in-doubt', message: sentence }
}

/** Finds the code of a call without an answer, such as `ECONNRESET` or `TimeoutError`. */
export function findFailureCode(error: unknown): string {
  return listCodes(error)[0] ?? 'unknown'
}

/**
 * Lists the codes of an error's causes: `fetch` wraps them, and a host with several addresses has
 * one for each.
 */
function listCodes(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.flatMap(listCodes)
  if (error.message.startsWith('Proxy response (')) return ['PROXY_REFUSED']
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return [error.name]
  const code = (error as NodeJS.ErrnoException).code
  if (typeof code === 'string') return [code]
  if (error.cause !== undefined) return listCodes(error.cause)
  return error.message === 'bad port' ? ['EADDRNOTAVAIL'] : []
}

/**
 * Explains an answer 401, 403 or 404: the service accepts no call at this address with this token.
 *
 * @param message of the service, without secrets
 */
export function explainNotAccepted(url: string, status: number, message: string): string {
  const hint =
    status === 404
      ? 'check service.url in edgewise.yaml'
      : 'check EDGEWISE_TOKEN (service.token in edgewise.yaml)'
  return `not accepted by ${url} (HTTP ${status}: ${message}): ${hint}`
}

/** Explains an answer by which the service accepts no `DELETE`, as `explainNotAccepted` does. */
export function explainNotOffered(url: string, status: number, message: string): string {
  return (
    `DELETE was not accepted by ${url} (HTTP ${status}: ${message}): ` +
    'check EDGEWISE_TOKEN, and whether the account offers DELETE /v2/domain/config ' +
    '(service.unset in edgewise.yaml)'
  )
}

/** Explains a call that did not reach the service. */
export function explainUnreached(url: string, message: string): string {
  return `${url} was not reached: ${message}; check service.url in edgewise.yaml`
}
