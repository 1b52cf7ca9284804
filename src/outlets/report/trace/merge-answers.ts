import { isObject, type Json, type JsonObject } from '../../../core/model/json.ts'

/** A trace, `edgewise.trace/1`, with what a text shows of unmanaged items and readings. */
export interface Traces {
  output: JsonObject
  /** The same without unmanaged items. */
  managed: JsonObject
  /** Answers of both that rest on a preset or a setting, by stage and name. */
  resting: Record<'output' | 'managed', ReadonlySet<string>>
}

/** The part of a value at some keys; undefined if there is none. */
export function part(value: Json | undefined, ...steps: string[]): Json | undefined {
  return steps.reduce<Json | undefined>(
    (current, step) =>
      isObject(current) && Object.hasOwn(current, step) ? current[step] : undefined,
    value,
  )
}

/** The value of an answer, also one that holds only without unmanaged items; undefined without. */
export function readValue(answer: Json | undefined): Json | undefined {
  if (!isObject(answer)) return undefined
  return 'value' in answer ? answer['value'] : answer['managed']
}

/**
 * Builds what a text shows: the answers without unmanaged items, in which those have `unknown` that
 * hold only so, and those have `rests` that rest on a preset or a setting.
 *
 * @param isVerbose whether what stays unknown has every reason
 */
export function mergeAnswers({ output, managed, resting }: Traces, isVerbose: boolean): JsonObject {
  const merge = (shown: Json, whole: Json | undefined, path: string): Json => {
    if (Array.isArray(shown))
      return shown.map((each, i) => merge(each, Array.isArray(whole) ? whole[i] : undefined, path))
    if (!isObject(shown)) return shown
    const own = isObject(whole) ? whole : undefined
    const check = typeof shown['item'] === 'string' ? `checks.${shown['item']}` : path
    if ('value' in shown || 'unknown' in shown) return mergeAnswer(shown, own, path)
    const entries = Object.entries(shown).map(([key, each]) => {
      const within = key === 'result' ? check : path === '' ? key : `${path}.${key}`
      return [key, key === 'state' ? (own?.[key] ?? each) : merge(each, own?.[key], within)]
    })
    return Object.fromEntries(entries) as JsonObject
  }
  const mergeAnswer = (shown: JsonObject, whole: JsonObject | undefined, path: string) => {
    const reasons = whole?.['unknown'] ?? []
    if (!('value' in shown)) return isVerbose && whole !== undefined ? whole : shown
    const rests: JsonObject = resting.managed.has(path) ? { rests: true } : {}
    // What rests on a reading only because of unmanaged items is certain without them.
    const isCertain = resting.managed.has(path) || !resting.output.has(path)
    if (whole !== undefined && 'value' in whole && isCertain) return { ...whole, ...rests }
    return { unknown: reasons, managed: shown['value'] ?? null, ...rests }
  }
  const merged = merge(managed, output, '') as JsonObject
  const { unmanaged: asSet, ...assumed } = isObject(merged['assumed']) ? merged['assumed'] : {}
  const isAssumed = asSet !== undefined && part(output, 'assumed', 'unmanaged') !== undefined
  return {
    ...merged,
    assumed: isAssumed ? { ...assumed, unmanaged: asSet } : assumed,
    unmanaged: output['unmanaged'] ?? [],
  }
}
