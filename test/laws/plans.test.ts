import { readdirSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { catalogue, itemSpec } from '../../src/catalog/catalogue.ts'
import { withKept } from '../../src/catalog/item-spec.ts'
import { readItem } from '../../src/catalog/read-item.ts'
import { conflicts } from '../../src/catalog/together.ts'
import { diffSnapshots } from '../../src/diff/diff-snapshots.ts'
import { sameJson } from '../../src/model/canonical-json.ts'
import { confirmed, type Held, type ItemKey, type Snapshot, type Value } from '../../src/model/item.ts'
import type { Json } from '../../src/model/json.ts'
import type { Plan } from '../../src/model/plan.ts'
import type { Grouping } from '../../src/plan/groups.ts'
import { makePlan } from '../../src/plan/make-plan.ts'
import { planJson } from '../../src/report/plan-json.ts'
import { formatDomainFile, parseDomainFile } from '../../src/state/domain-file.ts'
import { runs } from '../runs.ts'

interface Case {
  payload: Json
  manifest: boolean | null
}

/** Valid desired values of each item: those of the conformance cases, in canonical form and not empty. */
const values = new Map<ItemKey, Value[]>()
for (const folder of ['items', 'own']) {
  const url = new URL(`../conformance/${folder}/`, import.meta.url)
  for (const file of readdirSync(url)) {
    const item = file.replace('.json', '')
    const cases = JSON.parse(readFileSync(new URL(file, url), 'utf8')) as Case[]
    const read = cases
      .filter((each) => each.manifest === true)
      .map(({ payload }) => readItem(itemSpec(item), payload, 'manifest', '').value)
    const full = read.filter((value) => value !== null && itemSpec(item).reduce(undefined, value) !== undefined)
    values.set(item, [...(values.get(item) ?? []), ...full])
  }
}

const domains = Array.from({ length: 14 }, (_, i) => `d${i}.example.com`)
const valueOf = (item: ItemKey) => fc.constantFrom(...(values.get(item) ?? []))

/** What one domain may hold of some items; `doubt` lets it be in doubt. */
const itemsOf = (doubt: boolean) =>
  fc.uniqueArray(fc.constantFrom(...catalogue.keys()), { maxLength: 7 }).chain((keys) => {
    const alone = keys.filter(
      (item) => !conflicts(new Set(keys)).some((conflict) => conflict.severity === 'error' && conflict.item === item),
    )
    return fc
      .tuple(...alone.map((item) => heldOf(item, doubt).map((held): [ItemKey, Held] => [item, held])))
      .map((entries) => new Map(entries))
  })

function heldOf(item: ItemKey, doubt: boolean): fc.Arbitrary<Held> {
  const sure = valueOf(item).map(confirmed)
  const unset: fc.Arbitrary<Held> = fc.constant({ status: 'unset', candidates: [] })
  if (!doubt) return itemSpec(item).unset === undefined ? sure : fc.oneof({ arbitrary: sure, weight: 5 }, { arbitrary: unset, weight: 1 })
  const doubtful = fc
    .tuple(fc.array(valueOf(item), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([candidates, unknown]): Held => ({ status: 'in-doubt', candidates, ...(unknown ? { unknown } : {}) }))
  return fc.oneof({ arbitrary: sure, weight: 4 }, { arbitrary: doubtful, weight: 1 })
}

/** A few kinds of domain, many domains of each kind: as real workspaces are. */
const snapshot = (doubt: boolean): fc.Arbitrary<Snapshot> =>
  fc
    .tuple(
      fc.array(itemsOf(doubt), { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(3), { minLength: domains.length, maxLength: domains.length }),
    )
    .map(([kinds, choice]) => new Map(domains.map((domain, i) => [domain, new Map(kinds[(choice[i] ?? 0) % kinds.length])])))

const groupings: Grouping[] = [
  { groups: 'documented', together: [['origin', 'origin_host', 'new_origin']] },
  { groups: 'all', together: [] },
]
const grouping = fc.nat(1).map((i): Grouping => groupings[i] ?? { groups: 'all', together: [] })

function planOf(recorded: Snapshot, desired: Snapshot, how: Grouping): Plan {
  const limits = { domainsPerWrite: 10, callsPerMinute: 30 }
  return makePlan({ recorded, desired, ...diffSnapshots(recorded, desired), grouping: how, limits, target: [], items: [], commit: null })
}

/** Every state that a domain may be in, folded through the plan's writes; what is recorded of it afterwards. */
function after(recorded: Snapshot, plan: Plan): Snapshot {
  const result: Snapshot = new Map([...recorded].map(([domain, items]) => [domain, new Map(items)]))
  for (const change of plan.changes) if (change.action === 'release') result.get(change.domain)?.delete(change.item)
  for (const write of plan.writes) {
    for (const domain of write.domains) {
      const items = result.get(domain) ?? new Map<ItemKey, Held>()
      result.set(domain, items)
      for (const [item, form] of Object.entries(write.items)) {
        const spec = itemSpec(item)
        const held = items.get(item)
        const possible = held === undefined || held.candidates.length === 0 ? [undefined] : held.candidates
        const next = possible.map((value) => spec.reduce(value, form.payload)).filter((value) => value !== undefined)
        const [first] = next
        items.set(
          item,
          first === undefined
            ? { status: 'unset', candidates: [] }
            : { status: form.name === 'unset' ? 'unset' : 'confirmed', candidates: [first] },
        )
        for (const cleared of spec.clears) items.delete(cleared)
      }
    }
  }
  return result
}

describe('for any record and any manifests', () => {
  it('the writes give what is desired, and a plan after them is empty', () => {
    fc.assert(
      fc.property(snapshot(true), snapshot(false), grouping, (recorded, desired, how) => {
        const plan = planOf(recorded, desired, how)
        const end = after(recorded, plan)
        for (const [domain, items] of desired) {
          for (const [item, held] of items) {
            const value = end.get(domain)?.get(item)?.candidates[0]
            const wanted = held.candidates[0]
            if (wanted !== undefined)
              expect(sameJson(value, withKept(itemSpec(item).keeps, wanted, value)), `${item} of ${domain}`).toBe(true)
          }
        }
        expect(planOf(end, desired, how).changes).toEqual([])
      }),
      { numRuns: runs(150) },
    )
  })

  it('no write has over 10 domains, none is sent for what is equal, and no plan is under its bound', () => {
    fc.assert(
      fc.property(snapshot(true), snapshot(false), grouping, (recorded, desired, how) => {
        const { writes, changes, summary } = planOf(recorded, desired, how)
        const changed = new Set(changes.map((change) => `${change.domain} ${change.item}`))
        for (const write of writes) {
          expect(write.domains.length).toBeLessThanOrEqual(10)
          for (const domain of write.domains)
            for (const item of Object.keys(write.items)) expect(changed.has(`${domain} ${item}`)).toBe(true)
        }
        expect(summary.lowerBound).toBeLessThanOrEqual(writes.length)
      }),
      { numRuns: runs(150) },
    )
  })

  it('the same input gives the same bytes, and what is printed reads back the same', () => {
    fc.assert(
      fc.property(snapshot(true), snapshot(false), grouping, (recorded, desired, how) => {
        const text = JSON.stringify(planJson(planOf(recorded, desired, how), (item) => item))
        const shuffled: Snapshot = new Map([...desired].toReversed().map(([domain, items]) => [domain, new Map([...items].toReversed())]))
        expect(JSON.stringify(planJson(planOf(new Map([...recorded].toReversed()), shuffled, how), (item) => item))).toBe(text)
        expect(JSON.stringify(JSON.parse(text))).toBe(text)
      }),
      { numRuns: runs(60) },
    )
  })

  it('a record that is written reads back the same', () => {
    fc.assert(
      fc.property(itemsOf(true), (items) => {
        const recorded = new Map(
          [...items].map(([item, held]) => [item, { ...held, at: '2026-01-01T00:00:00.000Z', apply: 'a', origin: 'write' as const }]),
        )
        expect(parseDomainFile('record', formatDomainFile('a.example.com', recorded))).toEqual({ domain: 'a.example.com', items: recorded })
      }),
    )
  })
})

it('canonical values are canonical, whatever order their sets come in', () => {
  for (const [item, all] of values) {
    for (const value of all) expect(itemSpec(item).canonical(value)).toEqual(value)
  }
})
