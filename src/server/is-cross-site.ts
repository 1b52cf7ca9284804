import type { IncomingMessage } from 'node:http'

/** Reports whether a browser sends the request for a page of another host. */
export function isCrossSite({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { origin, host = '' } = headers
  if (origin === undefined) return false
  return !/^https?:\/\//i.test(origin) || origin.replace(/^https?:\/\//i, '') !== host
}
