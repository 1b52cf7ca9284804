import { type Delta, type EffectClass, listCauses } from '../../../core/effects/compare.ts'
import { computeGroupShare, type EffectGroup, type Effects } from '../../../core/effects/group.ts'
import { isSameJson } from '../../../core/model/json.ts'
import { mapSome, pluralize } from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { describeAnswer, describeReasons } from '../trace/answers.ts'
import { groupBy, addUp } from '../../../core/model/lists.ts'

/** Most answers of one group that its line names. */
const maxAnswers = 3

/** Titles of the classes of effects, as headings of their groups. */
export const classTitles: Record<EffectGroup['class'], string> = {
  visible: 'visitors notice',
  content: 'other or older content',
}

/** Describes how many requests change: `60 of 1200 requests change · 3 skipped`. */
export function describeCounts({ total, skipped, same, groups }: Effects): string {
  const count = (name: EffectClass) =>
    addUp(
      groups.filter((group) => group.class === name && !isUncertain(group)),
      (group) => group.count,
    )
  const { before, after, both } = countUnknown(groups)
  const [visible, content] = [count('visible'), count('content')]
  return [
    `${pluralize(total - skipped, 'request')} traced`,
    ...(visible === 0 ? [] : [`${visible} that visitors notice`]),
    ...(content === 0 ? [] : [`${content} with other or older content`]),
    ...(before === 0 ? [] : [`${before} unknown before`]),
    ...(after === 0 ? [] : [`${after} unknown after`]),
    ...(both === 0 ? [] : [`${both} unknown before and after`]),
    `${same} the same`,
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
  ].join(' · ')
}

/** Counts the requests of which one side, or none, is known. */
function countUnknown(groups: readonly EffectGroup[]) {
  const counts = { before: 0, after: 0, both: 0 }
  for (const group of groups.filter(isUncertain)) {
    const headlines = listHeadlines(group)
    const [isBefore, isAfter] = [
      headlines.some(({ before }) => 'unknown' in before),
      headlines.some(({ after }) => 'unknown' in after),
    ]
    counts[isBefore && isAfter ? 'both' : isAfter ? 'after' : 'before'] += group.count
  }
  return counts
}

/** Tests whether it is not certain that anything changes. */
function isUncertain(group: EffectGroup): boolean {
  return listHeadlines(group).every(({ verdict }) => verdict === 'may-differ')
}

/** Describes what changes: `outcome served → denied`; the strongest answers, then how many more. */
export function describeGroup(group: EffectGroup): string {
  const countRest = (rest: number) => pluralize(rest, 'more answer')
  return mapSome(listHeadlines(group), maxAnswers, describeDelta, countRest).join('; ')
}

/** Describes an answer before and after. */
export function describeDelta({ field, verdict, before, after }: Delta): string {
  const [left, right] = [describeAnswer(field, before), describeAnswer(field, after)]
  const isOpen = left === right && verdict === 'may-differ'
  return isOpen ? `${field} may change: it is ${left}` : `${field} ${left} → ${right}`
}

/** Tests whether an effect is unknown on both sides for the same reasons. */
export function isUnknownTwice(group: EffectGroup): boolean {
  return listHeadlines(group).every(
    ({ before, after }) =>
      'unknown' in before &&
      'unknown' in after &&
      isSameJson([...before.unknown], [...after.unknown]),
  )
}

/** Describes how many requests are unknown on both sides, and why; null for none. */
export function describeUnknownTwice({ groups }: Effects): string | null {
  const unknown = groups.filter(isUnknownTwice)
  if (unknown.length === 0) return null
  const count = addUp(unknown, (group) => group.count)
  const reasons = unknown.flatMap((group) =>
    listHeadlines(group).flatMap(({ after }) => ('unknown' in after ? [...after.unknown] : [])),
  )
  const why = describeReasons([...new Set(reasons)].toSorted())
  return escapeInvisible(`${pluralize(count, 'request')} unknown on both sides: ${why}`)
}

/** Tests whether some answer is not known before only because items were not managed. */
export function isMissingUnmanaged({ groups }: Effects): boolean {
  return groups.some(({ deltas }) =>
    deltas.some(
      ({ before }) =>
        'unknown' in before && before.unknown.every((reason) => reason.startsWith('unmanaged ')),
    ),
  )
}

/** Lists the deltas that name a group: an outcome stands for what follows from it. */
export function listHeadlines({
  deltas,
  class: strongest,
  verdict,
}: Pick<EffectGroup, 'deltas' | 'class' | 'verdict'>): Delta[] {
  const outcome = deltas.filter(({ field }) => field === 'outcome')
  if (outcome.length > 0) return outcome
  return deltas.filter((delta) => delta.class === strongest && delta.verdict === verdict)
}

/** Describes where: `60 requests of www.example.com (30 % of its sample), e.g. https://…`. */
export function describeRequests(group: EffectGroup, effects: Pick<Effects, 'byDomain'>): string {
  const { count, domains, examples } = group
  const percent = computeGroupShare(group, effects) * 100
  const share = percent < 1 ? 'under 1' : Math.round(percent)
  const sample = `${share} % of ${domains.length === 1 ? 'its' : 'their'} sample`
  const whose = domains.length === 1 ? domains[0] : pluralize(domains.length, 'domain')
  const example = examples[0] === undefined ? '' : `, e.g. ${examples[0]}`
  return escapeInvisible(`${pluralize(count, 'request')} of ${whose} (${sample})${example}`)
}

/** Most examples of a group. */
const maxExamples = 3

/**
 * Joins the groups of which the same is said: requests that are denied now, though each was
 * answered in its own way before. Of the other answers those remain that all of them have, and of
 * the items those on which what is said rests.
 */
export function mergeAlike(groups: readonly EffectGroup[]): EffectGroup[] {
  const families = groupBy([...groups], (group) =>
    JSON.stringify([group.class, group.verdict, ...listHeadlines(group).map(nameDelta)]),
  )
  return [...families.values()].map(merge).toSorted(compareGroups)
}

function merge(family: [EffectGroup, ...EffectGroup[]]): EffectGroup {
  const [first, ...others] = family

  const changed = [...new Set(family.flatMap(({ items }) => items))].toSorted()
  const known = others.map(({ deltas }) => new Set(deltas.map(nameDelta)))
  return {
    ...first,
    count: addUp(family, ({ count }) => count),
    domains: [...new Set(family.flatMap(({ domains }) => domains))].toSorted(),
    items: listCauses({ changed }, listHeadlines(first)),
    examples: [...new Set(family.flatMap(({ examples }) => examples))].slice(0, maxExamples),
    deltas: first.deltas.filter((delta) => known.every((names) => names.has(nameDelta(delta)))),
  }
}

function nameDelta({ field, before, after }: Delta): string {
  return JSON.stringify([field, before, after])
}

/** The order of groups is kept but for their counts. */
function compareGroups(a: EffectGroup, b: EffectGroup): number {
  return a.class === b.class && a.verdict === b.verdict ? b.count - a.count : 0
}
