import { isAccessDenied } from './access.ts'
import { report } from './answers.ts'
import type { Items } from './items.ts'
import { all, choose, known, map, sortTexts, bind, type Cond, type Result } from './result.ts'
import type { Trace, World } from './trace.ts'
import { writeUrl } from './url.ts'

/** Whether a certificate is bound. */
function hasCertificate(world: World): Cond {
  return map(world.item('https'), (value) => value !== null && value.cert_id !== 0)
}

/** Whether the connection is refused. */
function isRefused(world: World): Cond {
  return all(known(world.facts.url.scheme === 'https'), () =>
    map(hasCertificate(world), (has) => !has),
  )
}

function isSending(value: Items['https'] | null): boolean {
  return value !== null && value.cert_id > 0 && (value.force_https ?? 0) !== 0
}

/** Whether the request is redirected to https. */
function isRedirected(world: World): Cond {
  return all(known(world.facts.url.scheme === 'http'), () => map(world.item('https'), isSending))
}

/** 301 or 302; null without a redirect. */
export function readRedirectStatus(world: World): Result<number | null> {
  if (world.facts.url.scheme !== 'http') return known(null)
  return map(world.item('https'), (value) => (isSending(value) ? (value?.force_https ?? 0) : null))
}

/** Where the redirect leads; null without one. */
export function readLocation(world: World): Result<string | null> {
  const { url } = world.facts
  return bind(isRedirected(world), (redirects) => {
    if (!redirects) return known<string | null>(null)
    const port = url.port === null || world.is('R78', 'dropped') ? null : url.port
    return known(writeUrl({ ...url, scheme: 'https', port }))
  })
}

/** The outcome; unknown parts are taken both ways. */
export function readOutcome(world: World): Result<string> {
  const redirected = isRedirected(world)
  const ifRedirected = (yes: () => string, no: string) => (): Result<string> =>
    choose(redirected, known(yes()), known(no))
  const both = (): string => (world.is('R16', 'access-first') ? 'denied' : 'redirect')
  return world.once('outcome', () =>
    choose<string>(isRefused(world), known('refused'), () =>
      choose(
        isAccessDenied(world),
        ifRedirected(both, 'denied'),
        ifRedirected(() => 'redirect', 'served'),
      ),
    ),
  )
}

export function traceConnection(trace: Trace): Record<string, unknown> {
  return {
    decision: report(trace, (world) =>
      map(isRefused(world), (refused) => (refused ? 'refused' : 'open')),
    ),
    settings: report(trace, (world) =>
      map<Items['https'] | null, unknown>(world.item('https'), (value) => {
        if (value === null || value.cert_id === 0) return null
        const { http2 = null, ocsp = null, ssl_protocol } = value
        return {
          http2,
          ocsp,
          ssl_protocol: ssl_protocol === undefined ? null : sortTexts(new Set(ssl_protocol)),
        }
      }),
    ),
  }
}

export function traceRedirect(trace: Trace): Record<string, unknown> {
  return {
    decision: report(trace, (world) =>
      map(isRedirected(world), (redirects) => (redirects ? 'redirect' : 'none')),
    ),
    status: report(trace, readRedirectStatus),
    location: report(trace, readLocation),
  }
}
