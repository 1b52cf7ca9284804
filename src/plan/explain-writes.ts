import { canonicalizeJson } from '../model/canonical-json.ts'
import { isDelete, type Form, type Write } from '../model/change.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Explanation } from '../model/plan.ts'
import { listBundles } from './groups.ts'
import type { WriteProblem } from './group-writes.ts'

type ExplainedProblem = Pick<WriteProblem, 'needs' | 'grouping' | 'domainsPerWrite'>

/** Explains each write, and counts the calls that obvious groupings of the same changes take. */
export function explainWrites(problem: ExplainedProblem, writes: Write[]): Explanation {
  const writesByDomain = new Map<Domain, Write[]>()
  for (const write of writes)
    for (const domain of write.domains)
      writesByDomain.set(domain, [...(writesByDomain.get(domain) ?? []), write])
  const writesByForm = new Map<string, Write[]>()
  for (const write of writes)
    for (const [item, form] of Object.entries(write.items))
      push(writesByForm, buildFormKey(item, form), write)
  return {
    ...countObviousWrites(problem),
    writes: writes.map((write) => ({
      id: write.id,
      reason: explainWrite(write, writesByDomain, writesByForm, problem.domainsPerWrite),
    })),
  }
}

/**
 * Counts the calls that the same changes take with obvious groupings: one call a resource, domains
 * with an equal patch together, one item at a time.
 */
export function countObviousWrites({
  needs,
  grouping,
  domainsPerWrite,
}: ExplainedProblem): Pick<Explanation, 'single' | 'equalPatches' | 'itemByItem'> {
  const patches = new Map<string, number>()
  const items = new Map<string, number>()
  let single = 0
  for (const [domain, own] of groupBy(needs, (need) => need.domain)) {
    const keys = listBundles(domain, own, grouping).map(({ needs: bundled, group }) => ({
      group,
      key: bundled.map(({ item, whole }) => buildFormKey(item, whole)).join('\n'),
    }))
    single += keys.length
    for (const { key } of keys) increment(items, key)
    for (const [group, same] of groupBy(keys, (each) => each.group))
      increment(patches, `${group}\n${same.map((each) => each.key).join('\n')}`)
  }
  const calls = (counts: Map<string, number>): number =>
    [...counts.values()].reduce((sum, n) => sum + Math.ceil(n / domainsPerWrite), 0)
  return { single, equalPatches: calls(patches), itemByItem: calls(items) }
}

function explainWrite(
  write: Write,
  writesByDomain: Map<Domain, Write[]>,
  writesByForm: Map<string, Write[]>,
  domainsPerWrite: number,
): string {
  const others = new Set(
    write.domains.flatMap((domain) => writesByDomain.get(domain) ?? []).map((other) => other.id),
  )
  others.delete(write.id)
  const part =
    others.size === 0
      ? 'meets all needs of its domains'
      : `the other changes of its domains are in ${formatWriteIds([...others])}`
  const words = isDelete(write) ? deleteWords : postWords
  if (write.domains.length >= domainsPerWrite) return `${words.kind}full; ${part}`
  const alike = Object.entries(write.items).map(([item, form]) =>
    (writesByForm.get(buildFormKey(item, form)) ?? []).filter((other) => other.id !== write.id),
  )
  const shared = alike.flat().map((other) => other.id)
  const room =
    shared.length === 0 ? words.alone : `${words.shared} in ${formatWriteIds([...new Set(shared)])}`
  return `${words.kind}${room}; ${part}`
}

const postWords = {
  kind: '',
  alone: 'no other domain needs these values',
  shared: 'other domains get these values',
}
const deleteWords = {
  kind: 'unset by DELETE; ',
  alone: 'no other domain unsets these items',
  shared: 'other domains unset these items',
}

function formatWriteIds(ids: number[]): string {
  const sorted = ids.toSorted((a, b) => a - b)
  const shown = sorted.slice(0, 5).join(', ')
  const rest = sorted.length - 5
  const more = rest > 0 ? ` and ${rest} more` : ''
  return `${sorted.length === 1 ? 'write' : 'writes'} ${shown}${more}`
}

function buildFormKey(item: ItemKey, form: Form): string {
  return `${item} ${canonicalizeJson(form as unknown as Json)}`
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function push(lists: Map<string, Write[]>, key: string, write: Write): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [write])
  else list.push(write)
}
