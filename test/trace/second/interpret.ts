import { findOnly, traceAccess } from './access.ts'
import { report, type Answer } from './answers.ts'
import { traceCache } from './cache.ts'
import { addUsual, parseFacts, type Facts } from './facts.ts'
import { listOriginNames, listResponseNames } from './headers.ts'
import { isItemName, isRecord, itemNames } from './items.ts'
import { traceOrigin, traceOriginHeaders } from './origin.ts'
import { readOutcome, traceConnection, traceRedirect } from './outcome.ts'
import { readingNames, readings, settle, type ReadingName, type Settings } from './readings.ts'
import { readStatusField, traceResponse, traceResponseHeaders } from './response.ts'
import { canonical, isSame } from './result.ts'
import { Clash } from './signature.ts'
import { Trace, type Configuration } from './trace.ts'

export interface SecondInput {
  domain: string
  /** Item → candidates: a canonical value, null (unset) or `{"$unknown": true}` */
  items: Record<string, unknown[]>
  /** The request in the JSON form of request semantics, 1. */
  request: Record<string, unknown>
  visitor: 'usual' | 'unknown'
  /** Explicit answers to readings, and `unmanaged`. */
  assume: Record<string, unknown>
  /** Zone of the service, an IANA name. */
  timezone?: string
}

/** The stages of a trace. */
function traceStages(trace: Trace): Record<string, unknown> {
  return {
    outcome: report(trace, readOutcome),
    connection: traceConnection(trace),
    access: traceAccess(trace),
    redirect: traceRedirect(trace),
    cache: traceCache(trace),
    origin: traceOrigin(trace),
    response: traceResponse(trace),
  }
}

function isAnswer(node: unknown): node is Answer {
  if (!isRecord(node) || Object.keys(node).length !== 1) return false
  return 'value' in node || (Array.isArray(node['unknown']) && node['unknown'].length > 0)
}

/** Lists all answers with their place. */
function listAnswers(node: unknown, place = ''): [string, Answer][] {
  if (isAnswer(node)) return [[place, node]]
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, inner]) => listAnswers(inner, `${place}/${key}`))
}

/**
 * Tests whether traces have different answers, also about headers that only one names. The answers
 * of a trace that the facts contradict are none.
 */
function differ(a: Trace, b: Trace): boolean {
  const names = [listOriginNames, listResponseNames].map((list) => [
    ...new Set([...list(a), ...list(b)]),
  ])
  const write = (trace: Trace): string => {
    const headers = [
      traceOriginHeaders(trace, names[0] ?? []),
      traceResponseHeaders(trace, names[1] ?? []),
    ]
    const others = listAnswers(traceStages(trace)).filter(([place]) => !place.includes('/headers/'))
    return canonical([others, headers])
  }
  try {
    return write(a) !== write(b)
  } catch (error) {
    if (error instanceof Clash) return false
    throw error
  }
}

/** Finds the readings of which another answer would change an answer. */
export function findAssumed(input: SecondInput): Record<string, unknown> {
  const { config, facts, settings } = open(input)
  const trace = new Trace(config, facts, settings)
  traceStages(trace)
  const changes = (name: ReadingName, answer: unknown): boolean => {
    const settled = new Map([...settings.settled, [name, answer] as const])
    return differ(trace, new Trace(config, facts, { ...settings, settled }))
  }
  const assumed: Record<string, unknown> = {}
  for (const name of readingNames) {
    // What a trace did not look at can't change it.
    if (settings.own.has(name) || !trace.touched.has(name)) continue
    const now = settings.settled.get(name)
    const others = readings[name].answers.filter((answer) => !isSame(answer, now))
    if (others.some((answer) => changes(name, answer))) assumed[name] = now
  }
  const isOpen = settings.unmanaged === 'absent' && !settings.own.has('unmanaged')
  if (isOpen && readsUnmanaged(new Trace(config, facts, settings))) assumed['unmanaged'] = 'absent'
  return assumed
}

/** Tests whether a stage that is reached reads an item that is unmanaged. */
function readsUnmanaged(trace: Trace): boolean {
  const outcome = new Trace(trace.config, trace.facts, trace.settings).ask(readOutcome)
  traceConnection(trace)
  const isRefused = outcome.known && outcome.value === 'refused'
  if (!isRefused) {
    report(trace, readOutcome)
    traceAccess(trace)
    traceRedirect(trace)
    for (const field of ['status', 'location'] as const)
      report(trace, (world) => readStatusField(world, field))
  }
  if (!outcome.known || outcome.value === 'served') traceStages(trace)
  return trace.touched.has('unmanaged')
}

interface Opened {
  config: Configuration
  facts: Facts
  settings: Settings
}

function open({ domain, items, request, visitor, assume, timezone }: SecondInput): Opened {
  for (const [item, candidates] of Object.entries(items)) {
    if (!isItemName(item)) throw new Error(`unknown item: ${item}`)
    if (!Array.isArray(candidates) || candidates.length === 0)
      throw new Error(`no candidates: ${item}`)
  }
  const facts = parseFacts(request, domain)
  return {
    config: { domain, items, timezone },
    facts: visitor === 'usual' ? addUsual(facts) : facts,
    settings: settle(assume, isItemName),
  }
}

/**
 * Opens a trace.
 *
 * @throws Error for a bad fact or setting
 */
export function openTrace(input: SecondInput): Trace {
  const { config, facts, settings } = open(input)
  return new Trace(config, facts, settings)
}

/**
 * Traces a request (request semantics, 5).
 *
 * @throws Error for a bad fact or setting; Clash for a fact that contradicts a computation
 */
export function interpret(input: SecondInput): Record<string, unknown> {
  const trace = openTrace(input)
  return {
    domain: input.domain,
    visitor: input.visitor,
    unmanaged: itemNames.filter((item) => !Object.hasOwn(input.items, item)),
    notes: findOnly(trace, 'extend') === null ? [] : ['extend-set'],
    ...traceStages(trace),
  }
}
