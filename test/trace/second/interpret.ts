import { traceAccess, findOnly } from './access.ts'
import { report, type Answer } from './answers.ts'
import { traceCache } from './cache.ts'
import { parseFacts, writeFacts, type Facts } from './facts.ts'
import { isItemName, isRecord, itemNames } from './items.ts'
import { traceOrigin } from './origin.ts'
import { readOutcome, traceConnection, traceRedirect } from './outcome.ts'
import { readingNames, settle, type ReadingName, type Settings } from './readings.ts'
import { traceResponse } from './response.ts'
import { canonical } from './result.ts'
import { Trace, type Configuration } from './trace.ts'

export interface SecondInput {
  domain: string
  /** Item → candidates: a canonical value, null (unset) or `{"$unknown": true}` */
  items: Record<string, unknown[]>
  /** The request in the JSON form of request semantics, 1. */
  request: Record<string, unknown>
  /** Explicit answers to readings, and `unmanaged`; `unspecified` opens a reading. */
  assume: Record<string, unknown>
  preset: 'usual' | 'strict'
  /** Zone of the service, an IANA name. */
  timezone?: string
}

/** The stages of a trace, with answers without `managed`. */
function traceStages(trace: Trace): Record<string, unknown> {
  return {
    outcome: report(trace, 'answer outcome', () => readOutcome(trace)),
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
function listAnswers(node: unknown, place = ''): Map<string, Answer> {
  if (isAnswer(node)) return new Map([[place, node]])
  const found = new Map<string, Answer>()
  if (typeof node !== 'object' || node === null) return found
  for (const [key, inner] of Object.entries(node))
    for (const [where, answer] of listAnswers(inner, `${place}/${key}`)) found.set(where, answer)
  return found
}

/** Text that is equal for traces with equal answers. */
function writeAnswers(stages: unknown): string {
  return canonical([...listAnswers(stages)])
}

/** Adds to answers that are unknown by an unmanaged item their value without these items. */
function addManaged(node: unknown, absent: ReadonlyMap<string, Answer>, place = ''): unknown {
  if (isAnswer(node)) {
    if (!('unknown' in node)) return node
    if (!node.unknown.some((reason) => reason.startsWith('unmanaged '))) return node
    const other = absent.get(place)
    return other !== undefined && 'value' in other ? { ...node, managed: other.value } : node
  }
  if (Array.isArray(node))
    return node.map((inner, i): unknown => addManaged(inner, absent, `${place}/${i}`))
  if (!isRecord(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, inner]) => [key, addManaged(inner, absent, `${place}/${key}`)]),
  )
}

/** Finds the settings whose opening would change an answer. */
function findAssumed(
  config: Configuration,
  facts: Facts,
  settings: Settings,
  base: { trace: Trace; answers: string },
): Record<string, unknown> {
  const differs = (changed: Settings, name: string): boolean => {
    const trace = new Trace(config, facts, changed, { trace: base.trace, changed: name })
    return writeAnswers(traceStages(trace)) !== base.answers
  }
  const reopen = (name: ReadingName): Settings => {
    const settled = new Map(settings.settled)
    settled.delete(name)
    return { ...settings, settled }
  }
  // What a trace did not look at can't change it.
  const { touched } = base.trace
  const assumed: Record<string, unknown> = {}
  for (const name of readingNames)
    if (settings.settled.has(name) && touched.has(name) && differs(reopen(name), name))
      assumed[name] = settings.settled.get(name)
  if (
    settings.unmanaged !== 'unknown' &&
    touched.has('unmanaged') &&
    differs({ ...settings, unmanaged: 'unknown' }, 'unmanaged')
  )
    assumed['unmanaged'] = settings.unmanaged
  return assumed
}

function checkConfiguration({ domain, items, timezone }: SecondInput): Configuration {
  for (const [item, candidates] of Object.entries(items)) {
    if (!isItemName(item)) throw new Error(`unknown item: ${item}`)
    if (!Array.isArray(candidates) || candidates.length === 0)
      throw new Error(`no candidates: ${item}`)
  }
  return { domain, items, timezone }
}

/**
 * Traces a request (request semantics, 5).
 *
 * @throws Error for a bad fact or setting
 */
export function interpret(input: SecondInput): Record<string, unknown> {
  const config = checkConfiguration(input)
  const facts = parseFacts(input.request, input.domain)
  const settings = settle(input.preset, input.assume, isItemName)
  const trace = new Trace(config, facts, settings)
  const stages = traceStages(trace)
  const answers = writeAnswers(stages)
  const taken = { ...settings, unmanaged: 'absent' } as const
  const absent = new Trace(config, facts, taken, { trace, changed: 'unmanaged' })
  const managed = addManaged(stages, listAnswers(traceStages(absent)))
  const notes = findOnly(trace, 'extend') === null ? [] : ['extend-set']
  return {
    domain: input.domain,
    request: writeFacts(facts),
    assumed: findAssumed(config, facts, settings, { trace, answers }),
    unmanaged: itemNames.filter(
      (item) => !Object.hasOwn(config.items, item) && !trace.isTakenAsAbsent(item),
    ),
    notes,
    ...(isRecord(managed) ? managed : {}),
  }
}
