import type {
  ForwardStatus,
  Timeout,
  VendorOriginAuth,
  VisitTimestamp,
} from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import { choose, isSameAnswer, map, Unknown, uniteUnknown, type Answer } from '../answer.ts'
import { askOnce, type Evaluation, type Questions } from '../evaluation.ts'
import { compilePattern, matchUrl } from '../match/url.ts'
import { remember } from '../remember.ts'
import { readPlain } from '../secret-text.ts'
import { formatFull, splitFull } from '../url.ts'
import { changeOriginQuery } from './cache.ts'
import { askRewritten, askSeen } from './seen.ts'
import { isSignedUrl, removeSignature, strip } from './signature.ts'

/** Asks for path and query of the request to the origin (request semantics, 3.5). */
export const askOriginUrl = askOnce<string>((e, q) => {
  const { isRewritten, full } = e.ask(askRewritten(q))
  return choose(
    isRewritten,
    () => finishRewritten(e, q, full),
    () => changeOriginQuery(e, q, readClient(e)),
  )
})

/** The client's path and query, without the signature where it is not passed on. */
function readClient(e: Evaluation): Answer<string> {
  const sent = formatFull(e.facts.url)
  return map(e.item('visit_timestamp'), (value) => {
    if (value === null || castAccepted<VisitTimestamp>(value).origin_type === 2) return sent
    return map(strip(e), formatFull)
  })
}

function finishRewritten(e: Evaluation, q: Questions, rewritten: Answer<string>): Answer<string> {
  const changed = changeOriginQuery(e, q, rewritten)
  const text =
    isSameAnswer(changed, rewritten) || e.reading('R60') === 'query-last' ? changed : rewritten
  const value = e.item('visit_timestamp')
  if (value === null) return text
  if (value instanceof Unknown) return uniteUnknown([text, value]) ?? value
  const item = castAccepted<VisitTimestamp>(value)
  if (item.origin_type === 2 || item.req_uri_type > 2) return text
  const drop = (keepsTime: boolean) =>
    map(text, (known) => {
      const { path, query } = splitFull(known)
      return formatFull({ path, query: removeSignature(item, query, keepsTime) })
    })
  const [all, keyOnly] = [drop(false), drop(true)]
  return choose(
    all === text && typeof text === 'string' ? false : isSignedUrl(e, value),
    () => (all === keyOnly || e.reading('R35') === 'key-and-time' ? all : keyOnly),
    () => text,
  )
}

const compileAuth = remember((item: VendorOriginAuth) => {
  const { match_method: method = 'default', pattern = '' } = item
  const kind = method === 'default' || pattern === '' ? 'all' : method
  return compilePattern(kind, pattern, 'vendor_origin_auth/pattern')
})

/** Asks for the URL at which origin requests are authenticated; null for none. */
export const askAuth = askOnce<string | null>((e, q) =>
  map(e.item('vendor_origin_auth'), (value) => {
    if (value === null) return null
    const item = castAccepted<VendorOriginAuth>(value)
    return choose<string | null>(
      matchUrl(e, compileAuth(item), e.ask(askSeen(q)), 'R6'),
      () => readPlain(item.auth_url),
      () => null,
    )
  }),
)

/** Asks whether large files are fetched in slices. */
export const askRange = askOnce<'on' | 'off'>((e) =>
  map(e.item('range_back_source'), (value) => (value === 'off' ? 'off' : 'on')),
)

/** Asks for the redirects of the origin that are followed. */
export const askFollow = askOnce<number[]>((e) =>
  map(e.item('forward_status'), (value) =>
    value === null ? [] : castAccepted<ForwardStatus>(value).codes.toSorted((a, b) => a - b),
  ),
)

/** Asks for the timeout in seconds; null for the service's own. */
export const askTimeout = askOnce<number | null>((e) =>
  map(e.item('timeout'), (value) =>
    value === null ? null : Number(castAccepted<Timeout>(value).time),
  ),
)
