import type { Domain } from '../../core/model/item.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type { Overview } from '../../core/model/listed-rollout.ts'
import type { SecretHider } from '../../core/model/secret.ts'
import { markForeign } from '../../core/model/text/text-makers.ts'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import { createRolloutLoader } from '../../operations/rollouts.ts'
import { findStop } from '../../operations/stop.ts'
import type { RolloutEvent } from '../../outlets/report/apply/rollout-text.ts'
import type { DomainStatistics } from '../../outlets/report/live/status-codes.ts'
import { formatServed } from '../../outlets/report/page/format-page.ts'
import type { Branch } from '../branch/branch.ts'
import { type Position, findRole } from '../leader/position.ts'
import type { Reconciler } from '../leader/reconciler.ts'
import type { SharedFindings } from '../leader/shared-findings.ts'
import type { CheckedDrift, DriftMemory } from './memory.ts'
import type { BuiltPage } from './built-page.ts'
import { keepLast, type DomainPages } from './domain-pages.ts'
import { createDomainStatistics, queryDomain } from './domain-statistics.ts'
import { createHash } from 'node:crypto'

/**
 * What the pages show. Nothing of it takes a lock or changes anything; failures are
 * EdgewiseErrors.
 */
export interface PageSource {
  /** Describes the controller, and the rollouts as of about now. */
  overview(): Promise<Overview>
  /** Builds the page of the plan; several readers at the same time get one. */
  plan(): Promise<BuiltPage>
  /** Builds the plan as JSON, as that of the page. */
  planJson(): Promise<string>
  /** Builds the page of the history, as that of the plan. */
  history(): Promise<BuiltPage>
  /** Builds the list and the pages of all domains, or returns the last ones if that takes long. */
  domains(): Promise<DomainPages>
  /** Makes them unless the last ones show what is known now; rejects if that fails. */
  refresh(): Promise<void>
  /** Traces a request by what is recorded, and by the manifests, as long as somebody waits. */
  trace(request: TriedRequest, signal: AbortSignal): Promise<Record<OwnTrace['of'], string>>
  /** Queries the status codes of a domain, or returns those of some minutes ago. */
  statistics(domain: Domain): Promise<DomainStatistics>
  /** Returns the last of these that were built; null without any. */
  getDomains(): DomainPages | null
  /** Loads the page of the last drift check; null without one that this replica can show. */
  drift(): Promise<BuiltPage | null>
  /** Lists the events of the waves of a rollout that this process has seen, first to last. */
  listEvents(rollout: string): RolloutEvent[]
}

/** A page that a process of its own makes; `json`: the plan for programs. */
export type OwnPage = 'plan' | 'json' | 'history'

/** The pages of domains; `check`: what the last drift check has found, null without one. */
export interface OwnDomains {
  check: string | null
}

/** A GET request; `ip`: address of the client, empty: not given. */
export interface TriedRequest {
  url: string
  ip: string
}

/** A request to trace, by what is recorded or by the manifests. */
export interface OwnTrace extends TriedRequest {
  of: 'recorded' | 'desired'
}

/** What the pages are made of. */
export interface SourceContext {
  /** The workspace as it was when the controller began. */
  workspace: LoadedWorkspace
  branch: Pick<Branch, 'location' | 'name' | 'fetch' | 'hold'>
  reconciler: Pick<Reconciler, 'found'>
  position: Pick<Position, 'term' | 'isOvertaken' | 'awayMs'>
  outside: Outside
  /** Removes the secrets from a text of others. */
  scrub: SecretHider['scrub']
  /** Makes a page of the workspace in a folder, without blocking this process. */
  ownPage(page: OwnPage | OwnTrace | OwnDomains, root: string, outside: Outside): Promise<string>
  findings: Pick<SharedFindings, 'load' | 'getHead'>
  drifts: Pick<DriftMemory, 'load'>
  listEvents: PageSource['listEvents']
}

/**
 * Ages up to which what was loaded is shown again, ms. A page is made anew when anything has
 * changed that this process knows of; commands of others may change state meanwhile.
 */
const [overviewMs, ownMs] = [1000, 60_000]

/** Creates the source of the pages of a controller. */
export function createPageSource(context: SourceContext): PageSource & { forget(): void } {
  const { workspace, branch, reconciler, findings, outside } = context
  const { clock } = outside
  const overview = createShared(clock, createOverviewLoader(context))
  const findRevision = async (): Promise<string> =>
    computeRevisions(await overview.get(overviewMs, '')).plan
  const loadDrift = async () => {
    const { drift } = await overview.get(overviewMs, '')
    return context.drifts.load(drift?.at ?? null)
  }
  const build = async (page: OwnPage | 'domains'): Promise<BuiltPage & { text: string }> => {
    const { plan: revision, drift } = computeRevisions(await overview.get(overviewMs, ''))
    const { commit: tip } = reconciler.found
    // The history needs a workspace that can be loaded, whatever the tip is.
    const head =
      (page === 'history' || page === 'domains') && tip !== null ? findings.getHead() : null
    const commit = head ?? tip ?? (await branch.fetch())
    const at = new Date(clock.now()).toISOString()
    const own = page === 'domains' ? { check: (await loadDrift())?.check ?? null } : page
    const text = await branch.hold(commit, (root) => context.ownPage(own, root, outside))
    return { text, format: (nav) => formatServed(text, nav), at, commit, revision, drift }
  }
  /** Makes a page once for all readers, and keeps it for some time. */
  const share = (page: OwnPage | 'domains', findKey = findRevision) => {
    // A failure is kept as long as a page: who comes back for it would begin the next one.
    const made = createShared(clock, () =>
      build(page).then(
        (built) => () => built,
        (error: unknown) => () => {
          throw error
        },
      ),
    )
    return async () => (await made.get(ownMs, await findKey()))()
  }
  const json = share('json')
  const findState = async (): Promise<string> => {
    const { plan, drift } = computeRevisions(await overview.get(overviewMs, ''))
    return `${plan} ${drift}`
  }
  const domains = keepLast(clock, share('domains', findState))
  return {
    overview: () => overview.get(overviewMs, ''),
    plan: share('plan'),
    history: share('history'),
    domains: domains.get,
    getDomains: domains.getLast,
    refresh: createRefresh(domains, overview),
    trace: createTrace(context),
    statistics: createDomainStatistics(clock, (domain) => queryDomain(domain, workspace, outside)),
    planJson: async () => (await json()).text,
    drift: async () => showDrift(await loadDrift()),
    listEvents: context.listEvents,
    forget: overview.forget,
  }
}

function showDrift(checked: CheckedDrift | null): BuiltPage | null {
  if (checked === null) return null
  const { at, commit, page } = checked
  return { format: (nav) => formatServed(page, nav), at, commit, revision: at }
}

/** Creates the function that makes the pages of domains in the background. */
function createRefresh(
  { get, getLast }: ReturnType<typeof keepLast>,
  overview: { get(maxMs: number, key: string): Promise<Overview> },
): PageSource['refresh'] {
  return async () => {
    const revisions = computeRevisions(await overview.get(overviewMs, ''))
    if (!isCurrent(getLast(), revisions)) await get()
  }
}

function createOverviewLoader({
  workspace,
  branch,
  findings,
  position,
  outside,
  scrub,
}: SourceContext): () => Promise<Overview> {
  const loadRollouts = createRolloutLoader(workspace, outside)
  return async () => {
    const found = await findings.load()
    const { rollouts, ended, recent } = await loadRollouts(found.applied?.left?.join())
    return {
      workspace: workspace.config.id,
      role: findRole(position, outside.signal),
      branch: { location: branch.location, name: branch.name },
      ...found,
      stop: await findStop(workspace, outside),
      rollouts,
      ended: ended.map((each) => ({
        ...each,
        // It may quote the service.
        reason: each.reason && scrub(markForeign(each.reason)),
      })),
      recent,
    }
  }
}

/** Creates the function that traces a request, in two processes. */
function createTrace({
  reconciler,
  findings,
  branch,
  outside,
  ownPage,
}: SourceContext): PageSource['trace'] {
  return async (request, asked) => {
    const own = { ...outside, signal: AbortSignal.any([outside.signal, asked]) }
    const commit = findings.getHead() ?? reconciler.found.commit ?? (await branch.fetch())
    return branch.hold(commit, async (root) => {
      const make = (of: OwnTrace['of']) => ownPage({ ...request, of }, root, own)
      return { recorded: await make('recorded'), desired: await make('desired') }
    })
  }
}

/** Revision of each kind of page: another one when it shows something else. */
type Revisions = Record<'overview' | 'plan' | 'drift', string>

const computed = new WeakMap<Overview, Revisions>()

/** Computes the revisions of what an overview knows, without the times of the last look. */
export function computeRevisions(overview: Overview): Revisions {
  const known = computed.get(overview) ?? hashOverview(overview)
  computed.set(overview, known)
  return known
}

/** Whether pages of domains show the plan and the drift check that are known now. */
export function isCurrent(built: DomainPages | null, { plan, drift }: Revisions): boolean {
  return built?.revision === plan && built.drift === drift
}

function hashOverview(overview: Overview): Revisions {
  const { fetchedAt: _fetchedAt, rollouts, ended, recent, ...rest } = overview
  const { commit, applied, drift, stop } = rest
  const steps = rollouts.map(({ listed, step }) => [listed.id, step])
  const states = rollouts.map(({ listed }) => listed)
  // Domains only leave the hold of a rollout that has ended.
  const ends = ended.map(({ id, reason, onHold }) => [id, reason, Object.keys(onHold).length])
  return {
    overview: hash([rest, steps, states, ends, recent.newest]),
    plan: hash([stop, commit, applied?.commit, applied?.status, steps, ended.map(({ id }) => id)]),
    drift: hash(drift?.at ?? null),
  }
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}

/** Creates a loader that loads once for all who ask at the same time, or soon after. */
export function createShared<T>(clock: Pick<Clock, 'monotonic'>, load: () => Promise<T>) {
  let loading: Promise<T> | null = null
  let last: { value: T; key: string; sinceMs: number } | null = null
  const begin = (key: string): Promise<T> => {
    const own = load()
      .then((value) => {
        // What was begun before a change is not kept.
        if (loading === own) last = { value, key, sinceMs: clock.monotonic() }
        return value
      })
      .finally(() => {
        if (loading === own) loading = null
      })
    loading = own
    return own
  }
  return {
    /** @param key returns what was loaded before only for the same one */
    get: async (maxMs: number, key: string): Promise<T> =>
      last?.key === key && clock.monotonic() - last.sinceMs < maxMs
        ? last.value
        : (loading ?? begin(key)),
    /** Loads it anew for those who ask from now on. */
    forget: (): void => {
      last = null
      loading = null
    },
  }
}
