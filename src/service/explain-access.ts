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
