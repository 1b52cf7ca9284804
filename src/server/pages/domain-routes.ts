import type { IncomingMessage } from 'node:http'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { OpenRollout } from '../../core/model/listed-rollout.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { suggestDomain } from '../../operations/show.ts'
import { formatDomainRollouts } from '../../outlets/report/live/domain-rollouts.ts'
import { formatNav, type Place } from '../../outlets/report/live/nav.ts'
import { formatStatusCodes } from '../../outlets/report/live/status-codes.ts'
import { namePage } from '../../outlets/report/domain/fleet-row.ts'
import { formatTrial } from '../../outlets/report/live/trial.ts'
import { formatShell } from '../../outlets/report/page/format-shell.ts'
import type { RouteContext } from '../controller.ts'
import type { Answer } from '../http/answer.ts'
import { answerLater, answerMessage, answerPage, waitFor } from './answer-page.ts'
import type { PageSource } from './create-page-source.ts'
import type { ServedDomain } from './domain-pages.ts'

/** Wait for the service before a page is shown without its status codes, ms. */
const statisticsMs = 1500

const listHint = 'The list has all domains that manifests or state have.'

/** What the pages of domains show beside them. */
interface Around {
  place: Place
  /** Unfinished ones. */
  rollouts: readonly OpenRollout[]
}

/** Answers with the list of all domains, or the page of one. @param step null for the list */
export async function answerDomains(
  step: string | null,
  { url = '' }: Pick<IncomingMessage, 'url'>,
  { controller, clock, signal }: RouteContext,
  { place, rollouts }: Around,
): Promise<Answer> {
  const own = { ...place, path: '/domains' } as const
  const { pages } = controller
  const built = await waitFor(pages.domains(), clock)
  if (built === null) return answerLater('list of domains', own)
  const name = step === null ? null : decode(step)
  const page = name === null ? null : (built.find(name) ?? built.find(namePage(name.toLowerCase())))
  if (name !== null && page === null)
    return answerMessage(404, 'Not found', 'There is no such domain.', {
      hint: `${suggestDomain(name, built.names)} ${listHint}`.trim(),
      place: own,
    })
  const { at, commit, revision } = built
  const nav = formatNav({ ...own, watches: 'plan', revision, commit, at })
  const { title, tone } = page ?? built.list
  const main =
    name === null || page === null
      ? built.list.main
      : await formatDomain(name, page, { url, rollouts, pages, clock, signal })
  return answerPage(200, formatShell({ title, tone, main, nav }))
}

/** Links to what comes after the items, which may be many. */
const jumps =
  '<p class="jumps"><a href="#status-codes">Status codes</a> ' +
  '<a href="#trial">Try a request</a></p>\n'

/** Formats the page of a domain, with what is known beside the manifests and state. */
async function formatDomain(
  name: string,
  { domain, head, main, applies, drifted }: ServedDomain,
  {
    url,
    rollouts,
    pages,
    clock,
    signal,
  }: Pick<Around, 'rollouts'> &
    Pick<RouteContext, 'clock' | 'signal'> & {
      url: string
      pages: PageSource
    },
): Promise<string> {
  const [codes, trial] = await Promise.all([
    waitFor(pages.statistics(domain), clock, statisticsMs),
    tryRequest(name, url, pages, signal),
  ])
  const open = formatDomainRollouts(domain, rollouts)
  const drift =
    drifted === undefined
      ? ''
      : '<p class="callout" data-tone="attention">This domain has drift, which is not in the ' +
        `answers below: the service has ${pluralize(drifted, 'item')} otherwise.</p>\n`
  return head + open + jumps + main + formatStatusCodes(codes, applies) + drift + trial
}

/** Longest URL and address of a client of a request that is tried, in UTF-16 code units. */
const [maxUrl, maxIp] = [2000, 45]

/** Formats the form that tries a request, with what came of the one in the address. */
async function tryRequest(
  name: string,
  address: string,
  pages: PageSource,
  signal: AbortSignal,
): Promise<string> {
  const path = `/domains/${encodeURIComponent(name)}`
  const query = new URLSearchParams(address.split('?')[1] ?? '')
  const url = (query.get('url') ?? '').trim().slice(0, maxUrl)
  const ip = (query.get('ip') ?? '').trim().slice(0, maxIp)
  // State may have any name; a wildcard has no host of its own.
  const proposed = /^[a-z0-9][a-z0-9.-]*$/.test(name) ? `https://${name}/` : 'https://'
  const trial = { url: url || proposed, ip, traced: null, fault: '' }
  if (url === '') return formatTrial(path, trial)
  try {
    return formatTrial(path, { ...trial, traced: await pages.trace({ url, ip }, signal) })
  } catch (error) {
    throwDefect(error)
    return formatTrial(path, { ...trial, fault: `${error.message}. ${error.hint}`.trim() })
  }
}

/** Decodes a step of a path; empty, which names no page, if it is damaged. */
function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    return ''
  }
}
