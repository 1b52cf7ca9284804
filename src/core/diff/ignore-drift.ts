import { nameChange } from '../model/change.ts'
import type { IgnoreRule } from '../model/config.ts'
import { compileDomainGlob } from '../model/text/domain-glob.ts'
import type { Drift, DriftItem } from '../model/drift.ts'
import { limitMatches } from '../model/input-limits.ts'
import type { Domain, ItemKey } from '../model/item.ts'

/** A part of an item whose differences at the service do not count as drift. */
export interface Ignored {
  /** JSON pointer within the item; empty for all of it. */
  pointer: string
  reason: string
}

/**
 * Takes ignored differences at the service out of drift; their items have the reasons. An item with
 * other differences as well remains drifted.
 */
export function ignoreDrift(
  drift: Drift,
  findRules: (domain: Domain, item: ItemKey) => Ignored[],
): Drift {
  const gone = new Set<string>()
  const inDoubt = new Set(drift.inDoubt.map(nameChange))
  const items = drift.items.map((each) => {
    const rules = each.kinds.includes('live') ? findRules(each.domain, each.item) : []
    const next = ignoreIn(each, rules, inDoubt.has(nameChange(each)))
    if (next !== each && !next.kinds.includes('live')) gone.add(nameChange(each))
    return next
  })
  return { ...drift, items, live: drift.live.filter((change) => !gone.has(nameChange(change))) }
}

/** @param isInDoubt whether it is recorded so, and not only unreadable */
function ignoreIn(drifted: DriftItem, rules: Ignored[], isInDoubt: boolean): DriftItem {
  const { unreadable, live, kinds, recordedAt } = drifted
  const findAll = (path: string) => rules.filter(({ pointer }) => isWithin(path, pointer))
  const paths = unreadable === undefined ? live.map(({ path }) => path) : [unreadable.pointer]
  const reasons = new Set(paths.flatMap(findAll).map(({ reason }) => reason))
  if (reasons.size === 0) return drifted
  const ignored = [...reasons].join('; ')
  const rest = live.filter(({ path }) => findAll(path).length === 0)
  if (unreadable === undefined && rest.length > 0) return { ...drifted, live: rest, ignored }
  const { unreadable: _, ...others } = drifted
  return {
    ...others,
    kinds: kinds.filter((kind) => kind !== 'live'),
    live: [],
    ...(unreadable === undefined || recordedAt === null || isInDoubt
      ? {}
      : { confidence: 'assumed' }),
    ignored,
  }
}

/** Tests whether a JSON pointer is another one, or inside of it. */
function isWithin(path: string, pointer: string): boolean {
  return path === pointer || path.startsWith(`${pointer}/`)
}

/**
 * Creates the look-up of the rules of `drift.ignore` for an item of a domain.
 *
 * @param domains number of the domains that will be looked up
 * @throws EdgewiseError `usage` with too many rules for them
 */
export function createIgnoreLookup(
  ignore: IgnoreRule[],
  domains: number,
): (domain: Domain, item: ItemKey) => IgnoreRule[] {
  limitMatches(
    'drift.ignore',
    ignore.map(({ domain }) => domain),
    domains,
  )
  const rules = ignore.map((rule) => ({ rule, matches: compileDomainGlob(rule.domain) }))
  return (domain, item) =>
    rules.flatMap(({ rule, matches }) => (rule.item === item && matches(domain) ? [rule] : []))
}
