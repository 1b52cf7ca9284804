import { describe, expect, it } from 'vitest'
import { buildBatch } from '../../src/engine/apply/intent-batches.ts'
import {
  withConfirmed,
  withIntents,
  type Recording,
} from '../../src/engine/apply/record-outcome.ts'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { diffSnapshots } from '../../src/core/diff/diff-snapshots.ts'
import { isSameJson } from '../../src/core/model/json.ts'
import type { Write } from '../../src/core/model/change.ts'
import {
  createItemState,
  type ItemState,
  type ItemKey,
  type Snapshot,
} from '../../src/core/model/item.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import { computeRollback, type RollbackSnapshots } from '../../src/core/plan/compute-rollback.ts'
import type { RecordedState, RecordedItem } from '../../src/state/store/store.ts'
import { arbitrarySnapshot } from '../laws/snapshots.ts'
import { planSnapshots } from './plan-snapshots.ts'
import { fc, itLong, runs } from '../runs.ts'

const www = 'www.example.com'
const unset: ItemState = { status: 'unset', candidates: [] }
const time = (seconds: number) => createItemState({ time: String(10 * seconds) })
const createInDoubtState = (...seconds: number[]): ItemState => ({
  status: 'in-doubt',
  candidates: seconds.map((each) => ({ time: String(10 * each) })),
})
const black = (...list: string[]) => createItemState({ list, mode: 'cover' })
const cert = (more: object = {}) => createItemState({ cert_id: 1, force_https: 0, ...more })
const switches = (...urls: string[]) => createItemState(urls.map((url) => ({ url, turn_on: true })))

function runRollback(
  now: Record<ItemKey, ItemState>,
  before: Record<ItemKey, ItemState | null>,
  canReveal = (_secret: string) => true,
  deletes = false,
): RollbackSnapshots {
  return computeRollback(
    new Map([[www, new Map(Object.entries(now))]]),
    new Map([[www, new Map(Object.entries(before))]]),
    canReveal,
    {},
    deletes,
  )
}

/** Describes a rollback: its changes as `action item`, and the irreversible items with reasons. */
function describeRollback(...args: Parameters<typeof runRollback>): [string[], string[]] {
  const { from, to, irreversible } = runRollback(...args)
  return [
    diffSnapshots(from, to).changes.map(
      ({ action, item, by }) => `${action} ${item}${by === undefined ? '' : ` by ${by}`}`,
    ),
    irreversible.map(({ item, reason }) => `${item}: ${reason}`),
  ]
}

describe('computeRollback', () => {
  it.each<[string, Record<ItemKey, ItemState>, Record<ItemKey, ItemState | null>, string[]]>([
    ['restores a changed value', { timeout: time(2) }, { timeout: time(1) }, ['change timeout']],
    ['leaves an unchanged value alone', { timeout: time(1) }, { timeout: time(1) }, []],
    [
      'restores an in-doubt item',
      { timeout: createInDoubtState(1, 2) },
      { timeout: time(1) },
      ['change timeout'],
    ],
    ['restores an item that was released since', {}, { timeout: time(1) }, ['set timeout']],
    [
      'unsets an item that was unrecorded before',
      { ip_black_list: black('192.0.2.1') },
      { ip_black_list: null },
      ['unset ip_black_list'],
    ],
    ['leaves an item alone that is unrecorded before and now', {}, { timeout: null }, []],
    [
      'unsets an item that was unset before',
      { origin_host: createItemState({ host: 'o.example.com' }) },
      { origin_host: unset },
      ['unset origin_host'],
    ],
    [
      'restores an item that the apply unset',
      { https: { status: 'unset', candidates: [{ cert_id: 0, force_https: 0 }] } },
      { https: cert() },
      ['set https'],
    ],
    [
      'restores an in-doubt item with a single candidate',
      { timeout: time(2) },
      { timeout: createInDoubtState(1) },
      ['change timeout'],
    ],
    [
      'leaves an item alone that was in-doubt and still is',
      { timeout: createInDoubtState(1, 2) },
      { timeout: createInDoubtState(1, 2) },
      [],
    ],
    [
      'leaves other items alone',
      { timeout: time(2), connect_timeout: createInDoubtState(1, 2) },
      { timeout: time(1) },
      ['change timeout'],
    ],
    [
      'restores a black list that a white list emptied',
      { ip_white_list: black('192.0.2.2') },
      { ip_white_list: null, ip_black_list: black('192.0.2.1') },
      ['set ip_black_list', 'unset ip_white_list by ip_black_list'],
    ],
    [
      'restores a black list that a later white list emptied',
      { ip_white_list: black('192.0.2.2') },
      { ip_black_list: black('192.0.2.1') },
      ['set ip_black_list', 'unset ip_white_list by ip_black_list'],
    ],
    [
      'unsets two lists that were unrecorded before',
      {
        ip_white_list: { ...createInDoubtState(), unknown: true },
        ip_black_list: black('192.0.2.1'),
      },
      { ip_white_list: unset, ip_black_list: unset },
      ['unset ip_black_list', 'unset ip_white_list by ip_black_list'],
    ],
    [
      'restores a released list of switches',
      {},
      { visit_deny_whitelist: switches('/a') },
      ['set visit_deny_whitelist'],
    ],
  ])('%s', (_what, now, before, changes) => {
    expect(describeRollback(now, before)).toEqual([changes, []])
  })

  it.each<
    [string, Record<ItemKey, ItemState>, Record<ItemKey, ItemState | null>, string[], RegExp]
  >([
    [
      "an unrecorded item that can't be unset",
      { timeout: time(1) },
      { timeout: null },
      [],
      /it was not recorded before, and the service documents no way/,
    ],
    [
      'an item that was unset without being recorded',
      { origin_host: unset },
      { origin_host: null },
      [],
      /it was not recorded before, so the value that was unset/,
    ],
    [
      'an item that was in-doubt',
      { timeout: time(3) },
      { timeout: createInDoubtState(1, 2) },
      [],
      /in-doubt between 2 values/,
    ],
    [
      'an item that was in-doubt with an unknown value',
      { timeout: time(3) },
      { timeout: { ...createInDoubtState(1), unknown: true } },
      [],
      /between one value and something unknown/,
    ],
    [
      'an item whose value was unknown',
      { timeout: time(3) },
      { timeout: { ...createInDoubtState(), unknown: true } },
      [],
      /its value before is not known/,
    ],
    [
      'an empty list of switches',
      {},
      { visit_deny_whitelist: unset },
      [],
      /it has no recorded entry to remove/,
    ],
    [
      'an unknown item',
      { tomorrow: time(1) },
      { tomorrow: time(2) },
      [],
      /does not support the item/,
    ],
    [
      'a value that is not valid',
      { timeout: time(1) },
      { timeout: createItemState({ time: 'soon' }) },
      [],
      /not valid \(\/time\)/,
    ],
    [
      "a kept field that can't be removed",
      { https: cert({ http2: 'on' }) },
      { https: cert() },
      [],
      /http2 was not recorded before, and the service keeps a field/,
    ],
    [
      'a kept field beside other changes',
      { https: cert({ ocsp: 'on', force_https: 301 }) },
      { https: cert() },
      ['change https'],
      /ocsp was not/,
    ],
    [
      'a list whose unset would empty an unchanged one',
      {
        ip_black_list: black('192.0.2.1'),
        ip_white_list: { status: 'in-doubt', candidates: [], unknown: true },
      },
      { ip_black_list: black('192.0.2.1'), ip_white_list: null },
      [],
      /^ip_white_list: unsetting it would empty ip_black_list$/,
    ],
    [
      'one of two lists that exclude each other',
      {},
      { ip_black_list: black('192.0.2.1'), ip_white_list: black('192.0.2.2') },
      ['set ip_black_list'],
      /^ip_white_list: ip_black_list empties it$/,
    ],
  ])('reports %s as irreversible', (_what, now, before, changes, reason) => {
    const [did, lost] = describeRollback(now, before)
    expect(did).toEqual(changes)
    expect(lost).toEqual([expect.stringMatching(reason)])
  })

  it('restores a secret only if its value is available, and reports its name otherwise', () => {
    const signed = (secret: string, deadtime: number): ItemState => ({
      ...createItemState({
        pattern: '.*',
        time_format: 'timestamp',
        key: { $secret: secret },
        deadtime,
        req_uri_type: 1,
        origin_type: 1,
        timename: 'time',
        keyname: 'key',
      }),
      templates: { [secret]: 'signing' },
    })
    const [now, before] = [
      { visit_timestamp: signed('scrypt:b', 60) },
      { visit_timestamp: signed('scrypt:a', 60) },
    ]
    expect(describeRollback(now, before, (secret) => secret === 'scrypt:b')).toEqual([
      [],
      [expect.stringContaining('not available (signing)')],
    ])
    expect(describeRollback(now, before, (secret) => secret === 'scrypt:a')).toEqual([
      ['change visit_timestamp'],
      [],
    ])
    expect(runRollback(now, before).to.get(www)?.get('visit_timestamp')?.templates).toEqual({
      'scrypt:a': 'signing',
    })
    expect(describeRollback(now, now, () => false)).toEqual([[], []])
  })
})

const recording: Recording = {
  recordedAt: '2026-01-01T00:00:00.000Z',
  apply: 'law',
  secrets: { listTemplates: () => ({}) },
  itemKeys: {},
}
/** Computes the state after a plan whose writes are in-doubt if `isInDoubt`, else confirmed. */
function applyPartly(
  recorded: RecordedState,
  plan: Plan,
  isInDoubt: (write: Write) => boolean,
): RecordedState {
  const result: RecordedState = new Map(
    [...recorded].map(([domain, items]) => [domain, new Map(items)]),
  )
  for (const { domain, item, action } of plan.changes)
    if (action === 'release') result.get(domain)?.delete(item)
  for (const write of plan.writes) {
    for (const domain of write.domains) {
      const items = result.get(domain) ?? new Map<ItemKey, RecordedItem>()
      result.set(
        domain,
        isInDoubt(write)
          ? withIntents(items, write.items, recording)
          : withConfirmed(items, write.items, {}, recording),
      )
    }
  }
  return result
}

function toRecordedState(all: Snapshot): RecordedState {
  const origin = { at: recording.recordedAt, apply: 'earlier', origin: 'write' as const }
  return new Map(
    [...all].map(([domain, items]) => [
      domain,
      new Map([...items].map(([item, current]) => [item, { ...current, ...origin }])),
    ]),
  )
}

/** Tests whether an item is as before; unset and unrecorded count as equal. */
function isUnchanged(
  item: ItemKey,
  before: ItemState | null,
  current: ItemState | undefined,
): boolean {
  const isUnset = (each: ItemState | null | undefined) =>
    each === null || each === undefined || each.status === 'unset'
  if (isUnset(before) || isUnset(current)) return isUnset(before) && isUnset(current)
  // In-doubt before and after with the same candidates counts as unchanged.
  if (
    before?.status === 'in-doubt' &&
    current?.status === 'in-doubt' &&
    isSameJson(before.candidates, current.candidates)
  )
    return true
  if (before?.candidates.length !== 1 || before.unknown === true) return false
  return (
    current?.status === 'confirmed' &&
    isSameJson(getItemSpec(item).canonicalize(before.candidates[0] ?? null), current.candidates[0])
  )
}

itLong('restores the state before, or reports the item, after any partial apply', () => {
  let [restored, reported] = [0, 0]
  fc.assert(
    fc.property(
      arbitrarySnapshot(true),
      arbitrarySnapshot(false),
      fc.nat(3),
      (start, desired, failing) => {
        const first = toRecordedState(start)
        const plan = planSnapshots(first, desired)
        const releases = plan.changes.filter(({ action }) => action === 'release')
        const { before } = buildBatch(1, plan.writes, releases, first, recording, 0)
        const now = applyPartly(first, plan, (write) => write.id % 4 < failing)
        const { from, to, irreversible } = computeRollback(now, before, () => true)
        const end = applyPartly(now, planSnapshots(from, to), () => false)
        const names = new Set(irreversible.map(({ domain, item }) => `${domain} ${item}`))
        for (const [domain, items] of before) {
          for (const [item, stateBefore] of items) {
            if (names.has(`${domain} ${item}`)) reported++
            else {
              expect(
                isUnchanged(item, stateBefore, end.get(domain)?.get(item)),
                `${item} of ${domain}`,
              ).toBe(true)
              restored++
            }
          }
          for (const [item, current] of first.get(domain) ?? [])
            if (!items.has(item)) expect(end.get(domain)?.get(item)).toBe(current)
        }
      },
    ),
    { numRuns: runs(10, 300) },
  )
  expect(restored).toBeGreaterThan(reported)
})

describe('a rollback where the account offers DELETE', () => {
  const yes = () => true
  const origin = createItemState({ default_master: '192.0.2.1', origin_mode: 'default' })
  const extend = createItemState({ squid: 'x' })

  it.each<[string, Record<ItemKey, ItemState>, Record<ItemKey, ItemState | null>, string]>([
    ['that was not recorded', { timeout: time(1) }, { timeout: null }, 'timeout'],
    ['that was unset', { timeout: time(1) }, { timeout: unset }, 'timeout'],
    ['that is in-doubt', { timeout: createInDoubtState(1, 2) }, { timeout: null }, 'timeout'],
    ['whose value is destructive', { extend }, { extend: null }, 'extend'],
    ['whose loss is destructive, if it was unset', { origin }, { origin: unset }, 'origin'],
  ])('unsets an item %s before', (_name, now, before, item) => {
    expect(describeRollback(now, before, yes, true)).toEqual([[`unset ${item}`], []])
    expect(describeRollback(now, before)).toEqual([[], [expect.stringMatching(/no way to unset/)]])
  })

  it('leaves an origin that was not recorded before: the service may have had one', () => {
    expect(describeRollback({ origin }, { origin: null }, yes, true)).toEqual([
      [],
      [
        'origin: it was not recorded before, ' +
          'and without it the domain has no origin to fetch content from',
      ],
    ])
  })

  it('has what was documented before, and can not know a value that was unset', () => {
    expect(describeRollback({ origin_host: unset }, { origin_host: null }, yes, true)).toEqual(
      describeRollback({ origin_host: unset }, { origin_host: null }),
    )
    expect(describeRollback({ timeout: unset }, { timeout: null }, yes, true)[1]).toEqual([
      expect.stringMatching(/the value that was unset is not known/),
    ])
    expect(describeRollback({ timeout: unset }, { timeout: time(1) }, yes, true)[0]).toEqual([
      'set timeout',
    ])
  })
})
