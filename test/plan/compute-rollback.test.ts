import { describe, expect, it } from 'vitest'
import { buildWave } from '../../src/apply/intents.ts'
import { withConfirmed, withIntents, type Recording } from '../../src/apply/record-outcome.ts'
import { getItemSpec } from '../../src/catalog/catalogue.ts'
import { diffSnapshots } from '../../src/diff/diff-snapshots.ts'
import { isSameJson } from '../../src/model/canonical-json.ts'
import type { Write } from '../../src/model/change.ts'
import {
  createConfirmedState,
  type ItemState,
  type ItemKey,
  type Snapshot,
} from '../../src/model/item.ts'
import type { Plan } from '../../src/model/plan.ts'
import { makePlan } from '../../src/plan/make-plan.ts'
import { computeRollback, type RollbackSnapshots } from '../../src/plan/compute-rollback.ts'
import type { RecordedState, RecordedItem } from '../../src/state/store.ts'
import { arbitrarySnapshot } from '../laws/snapshots.ts'
import { fc, itOften, runs } from '../runs.ts'

const www = 'www.example.com'
const unset: ItemState = { status: 'unset', candidates: [] }
const time = (seconds: number) => createConfirmedState({ time: String(10 * seconds) })
const doubt = (...seconds: number[]): ItemState => ({
  status: 'in-doubt',
  candidates: seconds.map((each) => ({ time: String(10 * each) })),
})
const black = (...list: string[]) => createConfirmedState({ list, mode: 'cover' })
const cert = (more: object = {}) => createConfirmedState({ cert_id: 1, force_https: 0, ...more })
const listed = (...urls: string[]) =>
  createConfirmedState(urls.map((url) => ({ url, turn_on: true })))

function back(
  now: Record<ItemKey, ItemState>,
  before: Record<ItemKey, ItemState | null>,
  isAtHand = (_secret: string) => true,
): RollbackSnapshots {
  return computeRollback(
    new Map([[www, new Map(Object.entries(now))]]),
    new Map([[www, new Map(Object.entries(before))]]),
    isAtHand,
  )
}

/** What the way back does, `action item`, and what it says can't be had again. */
function told(...args: Parameters<typeof back>): [string[], string[]] {
  const { from, to, irreversible } = back(...args)
  return [
    diffSnapshots(from, to).changes.map(
      ({ action, item, by }) => `${action} ${item}${by === undefined ? '' : ` by ${by}`}`,
    ),
    irreversible.map(({ item, reason }) => `${item}: ${reason}`),
  ]
}

describe('wayBack', () => {
  it.each<[string, Record<ItemKey, ItemState>, Record<ItemKey, ItemState | null>, string[]]>([
    ['of a value that was changed', { timeout: time(2) }, { timeout: time(1) }, ['change timeout']],
    ['of what is as it was', { timeout: time(1) }, { timeout: time(1) }, []],
    [
      'of what the apply left in doubt',
      { timeout: doubt(1, 2) },
      { timeout: time(1) },
      ['change timeout'],
    ],
    ['of an item that was released since', {}, { timeout: time(1) }, ['set timeout']],
    [
      'of an item that was not recorded before',
      { ip_black_list: black('192.0.2.1') },
      { ip_black_list: null },
      ['unset ip_black_list'],
    ],
    ['of one that came and went', {}, { timeout: null }, []],
    [
      'of an item that was unset before',
      { origin_host: createConfirmedState({ host: 'o.example.com' }) },
      { origin_host: unset },
      ['unset origin_host'],
    ],
    [
      'of an item that the apply unset',
      { https: { status: 'unset', candidates: [{ cert_id: 0, force_https: 0 }] } },
      { https: cert() },
      ['set https'],
    ],
    [
      'of what was as good as certain',
      { timeout: time(2) },
      { timeout: doubt(1) },
      ['change timeout'],
    ],
    ['of what was in doubt, and still is', { timeout: doubt(1, 2) }, { timeout: doubt(1, 2) }, []],
    [
      'leaves other items alone',
      { timeout: time(2), connect_timeout: doubt(1, 2) },
      { timeout: time(1) },
      ['change timeout'],
    ],
    [
      'of a black list that a white list emptied',
      { ip_white_list: black('192.0.2.2') },
      { ip_white_list: null, ip_black_list: black('192.0.2.1') },
      ['set ip_black_list', 'unset ip_white_list by ip_black_list'],
    ],
    [
      'of a black list that a later white list emptied',
      { ip_white_list: black('192.0.2.2') },
      { ip_black_list: black('192.0.2.1') },
      ['set ip_black_list', 'unset ip_white_list by ip_black_list'],
    ],
    [
      'of two lists that were not there',
      { ip_white_list: { ...doubt(), unknown: true }, ip_black_list: black('192.0.2.1') },
      { ip_white_list: unset, ip_black_list: unset },
      ['unset ip_black_list', 'unset ip_white_list by ip_black_list'],
    ],
    [
      'of a switched list that was released',
      {},
      { visit_deny_whitelist: listed('/a') },
      ['set visit_deny_whitelist'],
    ],
  ])('%s', (_what, now, before, changes) => {
    expect(told(now, before)).toEqual([changes, []])
  })

  it.each<
    [string, Record<ItemKey, ItemState>, Record<ItemKey, ItemState | null>, string[], RegExp]
  >([
    [
      'what was not recorded and has no way back',
      { timeout: time(1) },
      { timeout: null },
      [],
      /nothing was recorded of it before, and the service documents no way/,
    ],
    [
      'what was unset without being recorded',
      { origin_host: unset },
      { origin_host: null },
      [],
      /nothing was recorded of it before, so what was taken/,
    ],
    [
      'what was in doubt',
      { timeout: time(3) },
      { timeout: doubt(1, 2) },
      [],
      /in doubt between 2 values/,
    ],
    [
      'what may have been anything',
      { timeout: time(3) },
      { timeout: { ...doubt(1), unknown: true } },
      [],
      /between one value and something unknown/,
    ],
    [
      'what was not known',
      { timeout: time(3) },
      { timeout: { ...doubt(), unknown: true } },
      [],
      /what it held before is not known/,
    ],
    [
      'an empty list of switches',
      {},
      { visit_deny_whitelist: unset },
      [],
      /no entry of it is recorded/,
    ],
    ['an unknown item', { tomorrow: time(1) }, { tomorrow: time(2) }, [], /does not know the item/],
    [
      'a value that is not valid',
      { timeout: time(1) },
      { timeout: createConfirmedState({ time: 'soon' }) },
      [],
      /not valid \(\/time\)/,
    ],
    [
      'a field that stays, alone',
      { https: cert({ http2: 'on' }) },
      { https: cert() },
      [],
      /http2 was not recorded before, and the service keeps it/,
    ],
    [
      'a field that stays, with others',
      { https: cert({ ocsp: 'on', force_https: 301 }) },
      { https: cert() },
      ['change https'],
      /ocsp was not/,
    ],
    [
      'a list that to unset would empty another one that is as it was',
      {
        ip_black_list: black('192.0.2.1'),
        ip_white_list: { status: 'in-doubt', candidates: [], unknown: true },
      },
      { ip_black_list: black('192.0.2.1'), ip_white_list: null },
      [],
      /^ip_white_list: to unset it would empty ip_black_list$/,
    ],
    [
      'one of two lists that can not have been there together',
      {},
      { ip_black_list: black('192.0.2.1'), ip_white_list: black('192.0.2.2') },
      ['set ip_black_list'],
      /^ip_white_list: ip_black_list empties it$/,
    ],
  ])('names %s', (_what, now, before, changes, reason) => {
    const [did, lost] = told(now, before)
    expect(did).toEqual(changes)
    expect(lost).toEqual([expect.stringMatching(reason)])
  })

  it('writes a secret only where its value is at hand, and names it where not', () => {
    const signed = (secret: string, deadtime: number): ItemState => ({
      ...createConfirmedState({
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
    expect(told(now, before, (secret) => secret === 'scrypt:b')).toEqual([
      [],
      [expect.stringContaining('not at hand (signing)')],
    ])
    expect(told(now, before, (secret) => secret === 'scrypt:a')).toEqual([
      ['change visit_timestamp'],
      [],
    ])
    expect(back(now, before).to.get(www)?.get('visit_timestamp')?.templates).toEqual({
      'scrypt:a': 'signing',
    })
    expect(told(now, now, () => false)).toEqual([[], []])
  })
})

const recording: Recording = {
  recordedAt: '2026-01-01T00:00:00.000Z',
  apply: 'law',
  secrets: { listTemplates: () => ({}) },
}
const limits = { domainsPerWrite: 10, callsPerMinute: 30 }
const grouping = { groups: 'documented' as const, together: [] }

function planOf(recorded: Snapshot, desired: Snapshot): Plan {
  return makePlan({
    recorded,
    desired,
    ...diffSnapshots(recorded, desired),
    grouping,
    limits,
    target: [],
    items: [],
    commit: null,
  })
}

/** What is recorded after a plan, some of whose writes (by id) were not confirmed. */
function carriedOut(
  recorded: RecordedState,
  plan: Plan,
  unsure: (write: Write) => boolean,
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
        unsure(write)
          ? withIntents(items, write.items, recording)
          : withConfirmed(items, write.items, {}, recording),
      )
    }
  }
  return result
}

function asRecorded(all: Snapshot): RecordedState {
  const about = { at: recording.recordedAt, apply: 'earlier', origin: 'write' as const }
  return new Map(
    [...all].map(([domain, items]) => [
      domain,
      new Map([...items].map(([item, held]) => [item, { ...held, ...about }])),
    ]),
  )
}

/** An item that is unset holds no more than one that is not recorded. */
function same(item: ItemKey, was: ItemState | null, held: ItemState | undefined): boolean {
  const nothing = (each: ItemState | null | undefined) =>
    each === null || each === undefined || each.status === 'unset'
  if (nothing(was) || nothing(held)) return nothing(was) && nothing(held)
  // What was in doubt, and is in doubt between the same values, is as it was.
  if (
    was?.status === 'in-doubt' &&
    held?.status === 'in-doubt' &&
    isSameJson(was.candidates, held.candidates)
  )
    return true
  if (was?.candidates.length !== 1 || was.unknown === true) return false
  return (
    held?.status === 'confirmed' &&
    isSameJson(getItemSpec(item).canonicalize(was.candidates[0] ?? null), held.candidates[0])
  )
}

itOften(
  'after any change, however far it got, the way back gives what was recorded before, or names the item',
  () => {
    let [returned, named] = [0, 0]
    fc.assert(
      fc.property(
        arbitrarySnapshot(true),
        arbitrarySnapshot(false),
        fc.nat(3),
        (start, desired, failing) => {
          const first = asRecorded(start)
          const plan = planOf(first, desired)
          const releases = plan.changes.filter(({ action }) => action === 'release')
          const { before } = buildWave(1, plan.writes, releases, first, recording)
          const now = carriedOut(first, plan, (write) => write.id % 4 < failing)
          const { from, to, irreversible } = computeRollback(now, before, () => true)
          const end = carriedOut(now, planOf(from, to), () => false)
          const names = new Set(irreversible.map(({ domain, item }) => `${domain} ${item}`))
          for (const [domain, items] of before) {
            for (const [item, was] of items) {
              if (names.has(`${domain} ${item}`)) named++
              else {
                expect(same(item, was, end.get(domain)?.get(item)), `${item} of ${domain}`).toBe(
                  true,
                )
                returned++
              }
            }
            for (const [item, held] of first.get(domain) ?? [])
              if (!items.has(item)) expect(end.get(domain)?.get(item)).toBe(held)
          }
        },
      ),
      { numRuns: runs(25, 300) },
    )
    expect(returned).toBeGreaterThan(named)
  },
)
