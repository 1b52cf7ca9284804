import { describe, expect, it } from 'vitest'
import {
  addEarlierReads,
  dateDrift,
  formatCheck,
  parseCheck,
} from '../../src/operations/observation/earlier-reads.ts'
import { detectDrift } from '../../src/core/diff/detect-drift.ts'
import { createItemState, type ItemState } from '../../src/core/model/item.ts'

const at = '2026-01-02T03:00:00.000Z'
const [www, img] = ['www.example.com', 'img.example.com']
const record = (time: string, recordedAt = at) =>
  new Map([['timeout', { ...createItemState({ time }), at: recordedAt }]])
const recorded = new Map([
  [www, record('60')],
  [img, record('60')],
])
const observe = (domain: string, time: string) =>
  new Map([[domain, new Map([['timeout', see(createItemState({ time }))]])]])
const see = (state: ItemState) => ({ state, notVerifiable: [] })
const check = (domain: string, time: string) =>
  parseCheck(formatCheck(detectDrift(recorded, recorded, observe(domain, time)), Date.parse(at)))
const add = (state: typeof recorded, { reads }: ReturnType<typeof parseCheck>) =>
  addEarlierReads(detectDrift(state, state, new Map()), (domain) => reads.get(domain))

describe('what an earlier check has found', () => {
  it('counts as found, with the value at the service', () => {
    const { items, live } = add(recorded, check(www, '30'))
    expect(items).toMatchObject([
      { domain: img, kinds: [], confidence: 'assumed' },
      { domain: www, kinds: ['live'], live: [{ value: '30' }] },
    ])
    expect(live).toMatchObject([{ domain: www, after: { time: '30' } }])
  })

  it('leaves what waits for its wave so', () => {
    const desired = new Map([[www, record('90')]])
    const waiting = new Map([[www, new Map([['timeout', true]])]])
    const drift = detectDrift(recorded, desired, new Map(), new Map(), waiting)
    const { reads } = check(www, '30')
    const { items } = addEarlierReads(drift, (domain) => reads.get(domain))
    expect(items.find(({ domain }) => domain === www)?.kinds).toEqual(['waiting', 'live'])
  })

  it('dates a difference by the check that found it first, unless it was recorded since', () => {
    const [first, second] = ['2026-01-02T03:15:00.000Z', '2026-01-02T03:30:00.000Z']
    const find = (state: typeof recorded) => detectDrift(state, state, observe(www, '30'))
    const found = dateDrift(find(recorded), undefined, first)
    const earlier = formatCheck(found, Date.parse(first))
    const list = ({ items }: { items: { since?: string }[] }) => items.map(({ since }) => since)
    expect(list(found)).toEqual([undefined, first])
    const again = dateDrift(find(recorded), earlier, second)
    expect(list(again)).toEqual([undefined, first])
    const { reads } = parseCheck(formatCheck(again, Date.parse(second)))
    expect(list(add(recorded, { atMs: 0, reads }))).toEqual([undefined, first])
    const later = new Map([[www, record('60', '2026-01-02T03:20:00Z')]])
    expect(list(dateDrift(find(later), earlier, second))).toEqual([second])
  })

  it('verifies what was the same', () => {
    const { items, live } = add(recorded, check(www, '60'))
    expect(items.map(({ confidence }) => confidence)).toEqual(['assumed', 'verified'])
    expect(live).toEqual([])
  })

  it('counts no more once the item was recorded anew, or is in doubt', () => {
    const later = new Map([[www, record('90', '2026-01-02T03:00:00.001Z')]])
    expect(add(later, check(www, '30'))).toMatchObject({
      items: [{ confidence: 'assumed', kinds: [] }],
      live: [],
    })
    const doubtful = { status: 'in-doubt' as const, candidates: [], at }
    const unsure = new Map([[www, new Map([['timeout', doubtful]])]])
    expect(add(unsure as typeof recorded, check(www, '30'))).toMatchObject({
      items: [{ confidence: 'in-doubt' }],
      live: [],
    })
  })
})
