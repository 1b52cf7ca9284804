import type { ItemKey, Value } from '../../model/item.ts'
import type { Compiled } from '../../trace/trace.ts'
import { NoLanguage, settle } from '../patterns/languages.ts'
import { isActive, listRanked, listTimes, type RankedRule } from '../patterns/ranked-rules.ts'
import type { Sides } from '../sides.ts'
import { readCertain, tellApart } from './matching.ts'
import type { Proof, Proven } from './proof.ts'

/** Compares what the first rule that matches decides for every URL, and at every time. */
export function proveRules(sides: Sides, keys: readonly ItemKey[]): Proven {
  const { settings } = sides.before
  const [before, after] = [listRules(sides.before, keys), listRules(sides.after, keys)]
  const all = [...before, ...after]
  const urls = tellApart(
    sides,
    all.flatMap(({ entries }) => entries),
  )
  const times = [0, ...listTimes(all)]
  const differing = urls.filter(({ matches }) => {
    const decide = (rules: RankedRule[], time: number) => {
      const rule = rules.find((each) => isActive(each, time, settings) && matches(each.entries))
      return rule && writeEffect(rule, sides)
    }
    return times.some((time) => decide(before, time) !== decide(after, time))
  })
  if (differing.length === 0) return { proof: nameProof(before, after) }
  return { reasons: [], urls: differing.map(({ url }) => url) }
}

/** The rules of some items, of which the first that matches decides. */
function listRules(compiled: Compiled, keys: readonly ItemKey[]): RankedRule[] {
  const { settings } = compiled
  const isRewritten = readCertain(compiled, 'source_url_rewrite') !== null
  if (keys.includes('cache_rule') && isRewritten && settle(settings, 3) !== 'cache-first')
    throw new NoLanguage('source_url_rewrite changes what cache rules see')
  const items = new Map(
    keys.flatMap((key): [ItemKey, Value][] => {
      const value = readCertain(compiled, key)
      return value === null ? [] : [[key, value]]
    }),
  )
  const lists = listRanked(items, settings)
  if (items.has('source_url_rewrite') && lists.length === 0)
    throw new NoLanguage('source_url_rewrite is a chain (R58)')
  // Of two lists that are not joined, one alone counts (R38).
  const counts = settle(settings, 38) === 'list-only' ? lists.at(-1) : lists[0]
  return counts?.rules ?? []
}

/**
 * What a rule decides; on bypass the query stays as sent with R47 `idle`. What a rewriting rule
 * fills in depends on its expression, too.
 */
function writeEffect({ effect, rule }: RankedRule, { before: { settings } }: Sides): string {
  const isIdle = settle(settings, 47) === 'idle' && effect.startsWith('{"policy":"bypass"')
  if (isIdle) return 'bypass'
  return rule.item === 'source_url_rewrite' ? `${effect} ${rule.pattern}` : effect
}

function nameProof(before: RankedRule[], after: RankedRule[]): Proof {
  const write = ({ name, effect, window }: RankedRule) =>
    `${name} ${effect} ${JSON.stringify(window)}`
  const [left, right] = [before.map(write), after.map(write)]
  const gone = left.filter((rule) => !right.includes(rule))
  const come = right.filter((rule) => !left.includes(rule))
  if (gone.length === 0 && come.length === 0)
    return left.length === right.length ? 'reordered' : 'covered'
  const areReplaced = gone.length > 0 && come.length > 0
  const isRegex = [...before, ...after].some(({ entries }) =>
    entries.some(({ form }) => form.kind === 'regex'),
  )
  return areReplaced && isRegex ? 'automaton' : 'covered'
}
