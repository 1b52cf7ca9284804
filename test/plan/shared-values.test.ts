import { expect, it } from 'vitest'
import { hashDomains, hashJson } from '../../src/core/plan/basis.ts'
import { makePlan } from '../../src/core/plan/make-plan.ts'
import { diffSnapshots } from '../../src/core/diff/diff-snapshots.ts'
import type { ItemState, Snapshot } from '../../src/core/model/item.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { createNumbering } from '../../src/core/model/text/canonical-json.ts'
import { groupPlanChanges } from '../../src/outlets/report/plan/blocks.ts'

const domains = (count: number) => Array.from({ length: count }, (_, i) => `d${i}.example.com`)

/** Builds a state whose value counts how often all of it is formatted. */
function buildCounted() {
  const counted = { formatted: 0 }
  const value = { list: [{ regex: '.*', head: 'A', order: 1 }] } as unknown as JsonObject
  Object.defineProperty(value, 'toJSON', {
    enumerable: false,
    value: () => {
      counted.formatted++
      return { ...value }
    },
  })
  const state: ItemState = { status: 'confirmed', candidates: [value] }
  return { counted, state }
}

it('are hashed as if each domain had its own, and formatted once', () => {
  const { counted, state } = buildCounted()
  const own = (time: number): ItemState => ({ status: 'confirmed', candidates: [{ time }] })
  const snapshot: Snapshot = new Map(
    domains(100).map((domain, i) => [
      domain,
      // Some domains share everything, in any order, and some have an item of their own.
      i % 2 === 0
        ? new Map([['head_control', state]])
        : new Map([
            ['timeout', own(i)],
            ['head_control', state],
          ]),
    ]),
  )
  const hashes = hashDomains(snapshot, [...snapshot.keys(), 'absent.example.com'])
  expect(counted.formatted).toBe(1)
  const [value] = state.candidates
  const format = (candidate: unknown) =>
    ({ status: 'confirmed', candidates: [candidate], unknown: false, returned: null }) as JsonObject
  expect(hashes).toEqual({
    ...Object.fromEntries(
      domains(100).map((domain, i) => [
        domain,
        hashJson({
          head_control: format(value),
          ...(i % 2 === 0 ? {} : { timeout: format({ time: i }) }),
        }),
      ]),
    ),
    'absent.example.com': hashJson({}),
  })
})

it('are planned and shown with work that does not grow with the domains', () => {
  const count = (size: number) => {
    const { counted, state } = buildCounted()
    const desired: Snapshot = new Map(
      domains(size).map((domain) => [domain, new Map([['head_control', state]])]),
    )
    const recorded: Snapshot = new Map()
    const { changes, unchanged } = diffSnapshots(recorded, desired, {}, false)
    const limits = { domainsPerWrite: 10, callsPerMinute: 30 }
    const grouping = { groups: 'all' as const, together: [] }
    const selection = { target: [], items: [], commit: null }
    const plan = makePlan({ recorded, desired, changes, unchanged, grouping, limits, ...selection })
    expect(plan.writes).toHaveLength(size / 10)
    expect(groupPlanChanges(plan.changes)).toHaveLength(1)
    return counted.formatted
  }
  expect(count(200)).toBe(count(20))
})

it('have one number if they are equal, whatever object they are', () => {
  const number = createNumbering()
  const shared = { b: 1, a: [2] }
  expect([shared, { a: [2], b: 1 }, shared, { a: [3] }, null, 'x', null].map(number)).toEqual([
    0, 0, 0, 1, 2, 3, 2,
  ])
})
