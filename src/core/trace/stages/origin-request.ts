import type { VendorOriginAuth } from '../../catalog/generated/items.ts'
import { choose, map, type Answer } from '../answer.ts'
import { compilePattern, matchUrl } from '../match/url.ts'
import { remember } from '../remember.ts'
import type { Run } from '../run.ts'
import { readPlain } from '../secret-text.ts'
import { formatFull, splitFull } from '../url.ts'
import { changeOriginQuery } from './cache.ts'
import { rewriteUrl, seeUrl } from './seen.ts'
import { isSignedUrl, removeSignature, strip } from './signature.ts'

/** Path and query of the request to the origin (request semantics, 3.5). */
export function readOriginUrl(run: Run): Answer<string> {
  const { isRewritten, full } = rewriteUrl(run)
  return choose(
    isRewritten,
    () => finishRewritten(run, full),
    () => changeOriginQuery(run, readClient(run)),
  )
}

/** The client's path and query, without the signature where it is not passed on. */
function readClient(run: Run): Answer<string> {
  const sent = formatFull(run.facts.url)
  return run.read('visit_timestamp', sent, (item) =>
    item.origin_type === 2 ? sent : map(strip(run), formatFull),
  )
}

/** Takes the arguments of a signature out of a rewritten URL. */
function finishRewritten(run: Run, rewritten: Answer<string>): Answer<string> {
  const text = run.reading('R60') === 'query-last' ? changeOriginQuery(run, rewritten) : rewritten
  const isTaken = run.read(
    'visit_timestamp',
    false,
    (item) => item.origin_type !== 2 && item.req_uri_type < 3 && isSignedUrl(run, item),
  )
  const take = () =>
    run.read('visit_timestamp', text, (item) =>
      map(text, (known) => formatFull(removeSignature(run, item, splitFull(known)))),
    )
  return choose(isTaken, take, text)
}

const compileAuth = remember((item: VendorOriginAuth) => {
  const { match_method: method = 'default', pattern = '' } = item
  const kind = method === 'default' || pattern === '' ? 'all' : method
  return compilePattern(kind, pattern, 'vendor_origin_auth/pattern')
})

/** The URL at which origin requests are authenticated; null for none. */
export function readAuth(run: Run): Answer<string | null> {
  return run.read('vendor_origin_auth', null, (item) =>
    choose(
      matchUrl(run, compileAuth(item), seeUrl(run), 'R6'),
      () => readPlain(item.auth_url),
      null,
    ),
  )
}

/** Whether large files are fetched in slices. */
export function readRange(run: Run): Answer<'on' | 'off'> {
  return run.read('range_back_source', 'on', (value) => value)
}

/** The redirects of the origin that are followed. */
export function readFollow(run: Run): Answer<number[]> {
  return run.read('forward_status', [], ({ codes }) => codes.toSorted((a, b) => a - b))
}

/** The timeout in seconds; null for the service's own. */
export function readTimeout(run: Run): Answer<number | null> {
  return run.read('timeout', null, ({ time }) => Number(time))
}
