import { createDomainFinder, createLoopFinder } from '../core/effects/requests/find-domain.ts'
import { mergeObserved } from '../manifest/observed/observed.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Domain, ItemKey, ItemState } from '../core/model/item.ts'
import { isObject, type Json, type JsonObject } from '../core/model/json.ts'
import { readRule, type Candidates } from '../core/trace/candidates.ts'
import { getOrAdd } from '../core/model/lists.ts'
import { didYouMean } from '../core/catalog/value/nearest.ts'
import { buildOutput } from '../core/trace/output.ts'
import { introduceTrace } from '../outlets/report/trace/sentence.ts'
import type { Rule } from '../core/trace/rule.ts'
import type { Visitor } from '../core/trace/request.ts'
import { compile, trace, type Compiled } from '../core/trace/trace.ts'
import { BadRequest, parseUrl } from '../core/trace/url.ts'
import type { Workspace } from '../manifest/workspace-file/workspace.ts'
import { loadState } from './runtime/open-state.ts'
import type { Comparable, Configured, Findings, StateOutside } from './runtime/parts.ts'
import {
  readConfiguration,
  readDesired,
  readObserved,
  readRecorded,
  settleReadings,
  type Assumptions,
} from './tracing/candidates.ts'
import { refuseInvalid } from './runtime/refuse-invalid.ts'

/** Through which configuration, and by which readings. */
export interface TraceOptions extends Assumptions {
  /** Manifests (default), state, an observed configuration, or one with any candidates. */
  of?: 'desired' | 'recorded' | { observed: Json } | { configuration: Json }
  /** What holds for facts that a request lacks; by default a usual visitor. */
  visitor?: Visitor
}

/** Requests to trace, as files have them: `{url, method, headers, ip, …}`. */
export interface TraceRequest extends TraceOptions {
  requests: Json[]
  /** Find what the answers rest on, which takes longer than they; by default of one request. */
  asks?: boolean
  /** Show what another answer of each assumed reading would change. */
  varies?: boolean
  /** Places of the requests in files, for errors; null for one of the command line. */
  places?: (string | null)[]
}

/** What one request meets: `edgewise.trace/1`, and the values of rules, for texts. */
export interface Traced {
  output: JsonObject
  /** Reads the value of a rule or entry; null where its item is not certain. */
  readRule(rule: Pick<Rule, 'item' | 'pointer'>): Json
  /** Finds the file and line of a rule or an item in a manifest. */
  locate(rule: Pick<Rule, 'item' | 'pointer'>): JsonObject
}

type TracedWorkspace = Comparable & Findings & Pick<Workspace, 'findTextPlace'>

/**
 * Traces requests through the configuration of their domains, in the order given; calls nothing.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error, `usage` for a bad request, a
 *   bad reading, and a domain that the configuration lacks
 */
export async function traceRequests(
  workspace: TracedWorkspace,
  request: TraceRequest,
  outside: StateOutside,
): Promise<Traced[]> {
  const { of = 'desired' } = request
  if (of === 'desired') refuseInvalid(workspace)
  const source = await openSource(workspace, of, outside)
  const settings = settleReadings(workspace, request)
  const known = new Map<Domain, Candidates>()
  const read = (domain: Domain) => getOrAdd(known, domain, () => source.read(domain))
  const traced = new Map<Domain, TracedDomain>()
  const find = createDomainFinder(source.domains)
  const findLoops = createLoopFinder(source.domains, (domain, item) => read(domain).get(item)?.[0])
  const open = (domain: Domain): TracedDomain => ({
    compiled: compile(domain, read(domain), settings),
    locate: source.name === 'desired' ? createLocate(workspace, domain) : () => ({}),
    notes: findLoops(domain).length > 0 ? ['origin-loop'] : [],
  })
  const { visitor = 'usual', varies = false } = request
  const asks = request.asks ?? (varies || request.requests.length === 1)
  return request.requests.map((each, i) =>
    explainFault(request, i, () => {
      const domain = findDomain(each, source, find)
      const { compiled, locate, notes } = getOrAdd(traced, domain, () => open(domain))
      const found = trace(compiled, each, { visitor, asks, varies })
      return {
        output: {
          ...buildOutput(domain, source.name, found, locate),
          notes: [...found.notes, ...notes],
        },
        readRule: (rule) => readRule(compiled.candidates, rule),
        locate,
      }
    }),
  )
}

/**
 * Tells what a usual request for the first page of a domain meets; by http without a certificate.
 */
export function describeStart(
  workspace: Configured & Pick<Workspace, 'findTextPlace'>,
  domain: Domain,
  items: ReadonlyMap<ItemKey, ItemState>,
  of: 'desired' | 'recorded',
): string {
  const isDesired = of === 'desired'
  const candidates = isDesired ? readDesired(items) : readRecorded(items)
  const isHttps = Number(readRule(candidates, { item: 'https', pointer: '/cert_id' })) > 0
  const url = `${isHttps ? 'https' : 'http'}://${domain.replace(/^\./, 'www.')}/`
  const compiled = compile(domain, candidates, settleReadings(workspace))
  const found = trace(compiled, { url }, { visitor: 'usual', asks: false })
  return introduceTrace({
    output: buildOutput(
      domain,
      of,
      found,
      isDesired ? createLocate(workspace, domain) : () => ({}),
    ),
    readRule: (rule) => readRule(candidates, rule),
  })
}

/** A domain through which requests are traced. */
interface TracedDomain {
  compiled: Compiled
  locate: Traced['locate']
  notes: string[]
}

/** A configuration of several domains. */
interface Source {
  name: string
  domains: Domain[]
  read(domain: Domain): Candidates
}

async function openSource(
  workspace: TracedWorkspace,
  of: NonNullable<TraceRequest['of']>,
  outside: StateOutside,
): Promise<Source> {
  const { desired } = workspace
  if (of === 'desired')
    return {
      name: 'desired',
      domains: [...desired.keys()],
      read: (domain) => readDesired(get(desired, domain)),
    }
  if (of === 'recorded') {
    const { recorded } = await loadState(workspace, outside)
    return {
      name: 'recorded',
      domains: [...recorded.keys()],
      read: (domain) => readRecorded(get(recorded, domain)),
    }
  }
  if ('configuration' in of) {
    const { domain, items } = readConfiguration(of.configuration)
    return { name: 'file', domains: [domain], read: () => items }
  }
  const observed = mergeObserved(of.observed, () => '…')
  const { itemKeys } = workspace.config.service
  return {
    name: 'observed',
    domains: [...observed.keys()],
    read: (domain) => readObserved(observed.get(domain) ?? new Map(), itemKeys),
  }
}

function get(
  domains: ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>,
  domain: Domain,
): ReadonlyMap<ItemKey, ItemState> {
  return domains.get(domain) ?? new Map()
}

/** Finds the domain of a request: that of its host, or the longest `.d` above it. */
function findDomain(
  request: Json,
  { name, domains }: Source,
  find: (host: string) => Domain | null,
): Domain {
  const text = isObject(request) ? request['url'] : request
  const { host } = parseUrl(typeof text === 'string' ? text : '', null)
  const found = find(host)
  if (found !== null) return found
  const where: Record<string, string> = {
    desired: 'no manifest has it',
    recorded: 'no state of it is recorded',
  }
  const why = where[name] ?? 'the file lacks it'
  throw new BadRequest(`${host} is not a known domain: ${why}.${didYouMean(host, domains)}`)
}

function explainFault<T>({ requests, places }: TraceRequest, i: number, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error
    const place = places?.[i] ?? (requests.length === 1 ? null : `request ${i + 1}`)
    const where = place === null ? '' : `${place}: `
    throw new EdgewiseError('usage', where + error.message, 'See "edgewise trace --help".')
  }
}

/** Finds the places of rules in manifests. */
function createLocate(
  { findTextPlace }: Pick<Workspace, 'findTextPlace'>,
  domain: Domain,
): Traced['locate'] {
  const places = new Map<string, JsonObject>()
  return ({ item, pointer }) =>
    getOrAdd(places, item + pointer, () => {
      const place = findTextPlace(domain, item, pointer)
      if (place === null) return {}
      const { file, line, column, manifest } = place
      return { file, line, column, ...(manifest === null ? {} : { manifest }) }
    })
}
