import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Stop } from '../../src/core/model/listed-rollout.ts'
import { noTraffic, type TrafficProfile } from '../../src/core/model/traffic.ts'
import type { Judged, Rollout } from '../../src/core/model/rollout.ts'
import type { Applied } from '../../src/core/model/applied.ts'
import type { OpenState } from '../../src/state/store/store-opener.ts'
import { accountScope } from '../../src/state/locks/locks.ts'
import { acquireAccount, buildHolder } from './contender.ts'
import type { ChainFile } from '../../src/core/model/generated/state-types.ts'
import type { HistoryNote } from '../../src/state/format/chain-entry.ts'
import { type StoredChain, verifyChain } from '../../src/state/format/verify-chain.ts'
import type { RecordedState, RecordedItem, Store, Batch } from '../../src/state/store/store.ts'

export const recordedAt = '2026-11-20T00:00:00.000Z'

/** One kind of store; `remove` deletes everything. */
export interface Kind {
  /** Opens state anew, like another process. */
  open(id?: string, address?: string, account?: string): Promise<OpenState>
  /** Opens the state as another machine sees it. */
  elsewhere(): Promise<OpenState>
  /** Changes the text of the state file with this ending of its name. */
  damage(name: string, change: (text: string) => string): Promise<void>
  /** Returns everything that is stored, in a form in which equal states are equal. */
  everything(): Promise<unknown>
  remove(): void | Promise<void>
}

export function buildItem(value: string, more: Partial<RecordedItem> = {}): RecordedItem {
  return {
    status: 'confirmed',
    candidates: [{ time: value }],
    at: recordedAt,
    apply: 'first',
    origin: 'write',
    ...more,
  }
}

export function buildDomain(domain: string, items: Record<string, RecordedItem>): RecordedState {
  return new Map([[domain, new Map(Object.entries(items))]])
}

/** Builds the state of a domain with one item. */
export function buildTimeout(
  domain: string,
  value: string,
  more: Partial<RecordedItem> = {},
): RecordedState {
  return buildDomain(domain, { timeout: buildItem(value, more) })
}

export function buildApplied(id: string, more: Partial<Applied> = {}): Applied {
  const writes = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }
  return {
    id,
    startedAt: recordedAt,
    endedAt: null,
    commit: 'c0ffee',
    author: 'somebody',
    writes,
    outcome: 'unfinished',
    ...more,
  }
}

const nothingKnown = { head: null, verifies: null }

/** Entry of a pruning. */
export const pruneNote: HistoryNote = {
  at: recordedAt,
  kind: 'prune',
  about: 'all',
  by: { name: 'somebody', knownBy: 'unidentified' },
  commit: null,
  plan: null,
  reason: null,
  outcome: 'done',
}

/** Builds a wave that changes `timeout` of each domain to '99', one write each, numbered from 1. */
export function buildWave(apply: string, before: RecordedState, number = 1): Batch {
  const buildIntent = (state: RecordedItem): RecordedItem => ({
    ...state,
    status: 'in-doubt',
    candidates: [...state.candidates, { time: '99' }],
    apply,
  })
  const intents = [...before].map(([domain, items], i): [number, RecordedState] => [
    i + 1,
    new Map([[domain, new Map([...items].map(([name, state]) => [name, buildIntent(state)]))]]),
  ])
  return { number, before, intents: new Map(intents), landWithinMs: 40_000 }
}

/** Records the intents of an apply that changes `timeout` of domains. */
export function begin(
  store: Store,
  apply: string,
  before: RecordedState,
  number = 1,
): Promise<void> {
  return store.recordIntents(buildApplied(apply), buildWave(apply, before, number))
}

/** Records that an apply has ended. */
export function complete(store: Store, apply: string): Promise<void> {
  return store.endApply(buildApplied(apply, { endedAt: recordedAt, outcome: 'complete' }))
}

const unidentified = { by: { name: 'somebody', knownBy: 'unidentified' } }

/** Lists what the entries of a history record, first to last. */
export function listEntries({ texts }: StoredChain) {
  const entries = [...texts].flatMap(([path, text]) =>
    path.endsWith('.json') ? [JSON.parse(text) as ChainFile] : [],
  )
  return entries
    .toSorted((a, b) => a.number - b.number)
    .map(({ kind, about, by, reason, outcome }) => ({ kind, about, by, reason, outcome }))
}

/** Definition of a test: `it` or `itLong`. */
type Define = (title: string, test: () => Promise<void>) => void

/** How to define the tests of one kind of store. */
interface Definitions {
  /** Tests of what one machine records. */
  own: Define
  /** Tests of what other machines see, and of the lock. */
  shared: Define
  /** Try many ids and addresses, which is slow for distant files. */
  every: boolean
  /** Tests of calls that the store keeps for the next apply. */
  calls?: boolean
}

/** Defines the tests that every store must pass. */
export function storeContract(
  name: string,
  make: () => Promise<Kind>,
  { own, shared, every, calls = true }: Definitions = { own: it, shared: it, every: true },
): void {
  describe(`state in ${name}`, () => {
    let kind: Kind
    const open = async (...key: Parameters<Kind['open']>): Promise<Store> =>
      (await kind.open(...key)).store
    beforeEach(async () => {
      kind = await make()
    })
    afterEach(() => kind.remove())

    shared('keeps rollouts until they are deleted, for other machines too', async () => {
      const store = await open()
      const rollout: Rollout = {
        id: 'one',
        startedAt: recordedAt,
        commit: null,
        author: 'somebody',
        state: 'open',
        reason: null,
        items: [],
        desiredHashes: { 'a.example.com': 'sha256:0' },
        endedAt: null,
        values: { 'a.example.com': { https: 'x', timeout: 'y' } },
        onHold: {},
        waves: [
          {
            domains: ['a.example.com'],
            applied: { from: recordedAt, to: null, serviceFrom: recordedAt, serviceTo: null },
            passed: false,
          },
        ],
        released: [],
        applies: ['one-w1'],
      }
      const onHold = { 'a.example.com': { https: 'x', timeout: 'y' } }
      expect(await store.listRollouts()).toEqual([])
      await store.saveRollout(rollout, 'begins')
      await store.saveRollout(
        { ...rollout, id: 'two', startedAt: '2026-11-19T00:00:00.000Z' },
        'begins',
      )
      await store.saveRollout({ ...rollout, state: 'stopped', reason: 'worse', onHold }, 'stopped')
      const other = (await kind.elsewhere()).store
      await other.load()
      expect(await other.listRollouts()).toEqual([
        { ...rollout, id: 'two', startedAt: '2026-11-19T00:00:00.000Z' },
        { ...rollout, state: 'stopped', reason: 'worse', onHold },
      ])
      expect((await other.listEnded()).map(({ id, reason }) => [id, reason])).toEqual([
        ['one', 'worse'],
      ])
      await store.saveRollout({ ...rollout, state: 'complete' }, 'complete')
      await store.saveRollout({ ...rollout, id: 'two', state: 'complete' }, 'complete')
      const later = await open()
      expect(await later.listRollouts()).toEqual([])
      const ended = { ...rollout, state: 'complete', desiredHashes: {}, values: {}, onHold: {} }
      expect(await later.listEnded()).toEqual([ended, { ...ended, id: 'two' }])
    })

    shared('keeps the latest ended rollouts, with what their pages show', async () => {
      const { store } = await kind.open()
      await store.load()
      const sample = { requests: 1000, bad: 126 }
      const window = { from: recordedAt, to: recordedAt }
      const counts = { '2xx': 874, '3xx': 0, '4xx': 0, '5xx': 126, other: 0 }
      const judged: Judged = {
        type: 'wave.judged',
        wave: 1,
        verdict: 'worse',
        reason: '5xx rose',
        before: sample,
        after: sample,
        worse: [{ domain: 'd0.example.com', before: sample, after: sample }],
        statistics: {
          statuses: ['5xx'],
          margin: 1,
          minRequests: 500,
          written: window,
          before: window,
          after: window,
          seconds: 300,
          points: [{ time: recordedAt, ...sample, ...counts }],
        },
      }
      const domains = Array.from({ length: 250 }, (_, i) => `d${i}.example.com`)
      const hashes = (value: unknown) => Object.fromEntries(domains.map((each) => [each, value]))
      const save = (id: number) =>
        store.saveRollout(
          {
            id: `2026-${String(id).padStart(2, '0')}`,
            startedAt: recordedAt,
            commit: 'c0ffee',
            committed: { author: 'Ada', subject: 'Raise the pool' },
            author: 'ci',
            state: 'rolled-back',
            reason: '5xx rose',
            endedAt: recordedAt,
            items: [],
            desiredHashes: hashes('sha256:x') as Record<string, string>,
            values: hashes({ https: 'x' }) as Record<string, Record<string, string>>,
            onHold: {},
            waves: [{ domains, applied: null, passed: false, judged }],
            released: [],
            applies: [],
          },
          'ended',
        )
      for (let id = 0; id < 35; id++) await save(id)
      const ended = await store.listEnded()
      expect(ended.map(({ id }) => id)).toEqual(
        Array.from({ length: 30 }, (_, i) => `2026-${String(i + 5).padStart(2, '0')}`),
      )
      expect(ended[0]?.committed?.subject).toBe('Raise the pool')
      const [wave] = ended[0]?.waves ?? []
      expect(wave).toMatchObject({ more: 50, judged })
      expect(wave?.domains).toHaveLength(200)
      expect(JSON.stringify(ended[0]).length).toBeLessThan(10_000)
    })

    shared('keeps the last two figures of the traffic of each domain', async () => {
      const [a, b] = ['a.example.com', 'b.example.com']
      const count = (requests: number, at: number, ...domains: string[]): TrafficProfile => ({
        domains: new Map(domains.map((domain) => [domain, { requests, bad: 1, at }])),
        account: requests * 10,
        at,
      })
      expect(await (await open()).loadTraffic()).toEqual(noTraffic)
      await (await open()).recordTraffic(count(5, 100, a, b))
      const store = await open()
      await store.load()
      await begin(store, 'one', buildTimeout(a, '1'))
      // Another process counts while an apply runs, which goes on with its own view.
      await (await kind.elsewhere()).store.recordTraffic(count(7, 300, b))
      await (await open()).recordTraffic({ ...count(6, 200, b), account: null })
      await complete(store, 'one')
      await store.share?.()
      const { store: other } = await kind.elsewhere()
      await other.load()
      const now = count(7, 300, a, b)
      const domains = new Map([...now.domains, ...count(5, 100, a).domains])
      expect(await other.loadTraffic()).toEqual({ ...now, domains })
      expect(await other.loadTraffic(250)).toEqual({
        domains: new Map([...count(5, 100, a).domains, ...count(6, 200, b).domains]),
        account: 50,
        at: 200,
      })
      expect(await other.loadTraffic(99)).toEqual(noTraffic)
      expect((await other.listApplies()).map(({ id }) => id)).toEqual(['one'])
    })

    own('refuses damaged traffic, and does not write over it', async () => {
      const profile = { ...noTraffic, account: 1, at: 1 }
      await (await open()).recordTraffic(profile)
      await kind.damage('figures.json', (text) => text.replace('"requests":1', '"requests":-1'))
      const damaged = await kind.everything()
      const expected = {
        code: 'record-damaged',
        message: expect.stringContaining('at /account/0/requests: expected 0 or more') as string,
      }
      await expect((await open()).loadTraffic()).rejects.toMatchObject(expected)
      await expect((await open()).recordTraffic(profile)).rejects.toMatchObject(expected)
      expect(await kind.everything()).toEqual(damaged)
    })

    shared(
      'keeps the stop of an account, without the lock, for all of its workspaces',
      async () => {
        const { accountStop, locks } = await kind.open()
        const lease = await acquireAccount({ locks }, 'one')
        const stop: Stop = { author: 'ada', knownBy: 'user', at: recordedAt, reason: 'Why "so"' }
        const [there, other] = [await kind.elsewhere(), await kind.open('other')]
        expect(await there.accountStop.load()).toBe(null)
        expect(await accountStop.record(stop)).toEqual(stop)
        // The first stop counts.
        expect(await other.accountStop.record({ ...stop, author: 'bob' })).toEqual(stop)
        for (const each of [there, other, await kind.open()])
          expect(await each.accountStop.load()).toEqual(stop)
        const apart = [
          ['default', 'https://b.example.net'],
          ['default', undefined, 'main'],
        ] as const
        for (const key of apart)
          expect(await (await kind.open(...key)).accountStop.load()).toBe(null)
        // It is no workspace, and owns no domain.
        expect(await other.store.listDomains()).toEqual([])
        await there.accountStop.remove()
        await there.accountStop.remove()
        expect(await accountStop.load()).toBe(null)
        const again = await Promise.all(
          [accountStop, there.accountStop].map((each, i) =>
            each.record({ ...stop, author: `${i}` }),
          ),
        )
        expect(again[0]).toEqual(again[1])
        expect(await other.accountStop.load()).toEqual(again[0])
        await lease.release()
      },
    )

    own('never written is empty, and loading changes nothing', async () => {
      const before = await kind.everything()
      const store = await open()
      expect(await store.load()).toEqual(new Map())
      expect(await store.listOtherAddresses()).toEqual([])
      expect(await store.listApplies()).toEqual([])
      expect(await store.loadStateBefore('none')).toEqual(new Map())
      expect(await store.loadCalls()).toMatchObject({ calls: [], incomplete: false })
      expect(await kind.everything()).toEqual(before)
    })

    shared('loads what was saved, here and elsewhere', async () => {
      const saved = buildDomain('a.example.com', {
        timeout: buildItem('10', { returned: { time: '11' }, templates: { 'scrypt:1': 'name' } }),
        https: buildItem('0', {
          status: 'in-doubt',
          candidates: [{ b: 1, a: [] }, { a: null }],
          unknown: true,
        }),
        ip_black_list: buildItem('0', { status: 'unset', candidates: [] }),
        extend: buildItem('0', { candidates: ['"\n\u2028\\ é 語 \u0000'] }),
      })
      await (await open()).save(saved, 'test')
      expect(await (await open()).load()).toEqual(saved)
      expect(await (await kind.elsewhere()).store.load()).toEqual(saved)
    })

    own('changes the given domains only; one without items is removed', async () => {
      const store = await open()
      await store.load()
      await store.save(buildTimeout('a.example.com', '1'), 'test')
      await store.save(buildTimeout('b.example.com', '2'), 'test')
      await store.save(buildDomain('b.example.com', { rate_limit: buildItem('3') }), 'test')
      expect(await (await open()).load()).toEqual(
        new Map([
          ...buildTimeout('a.example.com', '1'),
          ...buildDomain('b.example.com', { rate_limit: buildItem('3') }),
        ]),
      )
      await store.save(buildDomain('b.example.com', {}), 'test')
      await store.save(buildDomain('never.example.com', {}), 'test')
      expect([...(await (await open()).load()).keys()]).toEqual(['a.example.com'])
    })

    shared(
      'has the history of one domain: its waves and its state, not those of others',
      async () => {
        const [a, b] = ['a.example.com', 'b.example.com']
        const state = (value: string) =>
          new Map([a, b].map((domain) => [domain, new Map([['timeout', buildItem(value)]])]))
        const store = await open()
        await store.load()
        await store.save(state('1'), 'test')
        for (const [i, apply] of ['one', 'two', 'three'].entries()) {
          const startedAt = `2026-11-2${i}T00:00:00.000Z`
          // The second apply has the domain in its eleventh wave only, after ten with others.
          const waves = apply === 'two' ? 11 : 1
          for (let number = 1; number <= waves; number++) {
            const before = new Map(
              [...state('1')].filter(([domain]) => domain !== a || number === waves),
            )
            const wave = buildWave(apply, before, number)
            const intents = new Map([...wave.intents].map(([id, more]) => [id + number * 10, more]))
            await store.recordIntents(buildApplied(apply, { startedAt }), { ...wave, intents })
          }
          if (apply === 'three') break
          const ended = { startedAt, endedAt: startedAt, outcome: 'incomplete' as const }
          await store.endApply(buildApplied(apply, ended))
        }
        await store.share?.()
        const { store: other } = await kind.elsewhere()
        const { applies, recorded, pruned } = await other.loadDomainHistory(a)
        const intended = (apply: string) =>
          buildItem('1', { status: 'in-doubt', candidates: [{ time: '1' }, { time: '99' }], apply })
        expect(applies.map(({ apply, items }) => [apply.id, [...items]])).toEqual(
          ['one', 'two', 'three'].map((apply) => [
            apply,
            [['timeout', { before: buildItem('1'), intended: intended(apply) }]],
          ]),
        )
        expect([...recorded]).toEqual([['timeout', { ...intended('three'), open: true }]])
        expect(pruned).toBe(0)
        const all = await other.loadIntended(['three', 'two', 'missing'])
        expect([...all.keys()]).toEqual(['three', 'two', 'missing'])
        for (const apply of ['two', 'three'])
          expect(all.get(apply)?.get(a)).toEqual(
            new Map([['timeout', { before: buildItem('1'), intended: intended(apply) }]]),
          )
        expect([all.get('two')?.size, all.get('missing')?.size]).toEqual([state('1').size, 0])
        await store.load()
        await store.prune([buildApplied('one'), buildApplied('two')], 'test', pruneNote)
        await store.share?.()
        const after = await (await kind.elsewhere()).store.loadDomainHistory(a)
        expect([after.applies.map(({ apply }) => apply.id), after.pruned]).toEqual([['three'], 2])
        expect(await store.loadDomainHistory('c.example.com')).toEqual({
          applies: [],
          recorded: new Map(),
          pruned: 2,
        })
      },
    )

    own('accepts every valid domain name', async () => {
      const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`
      expect(long).toHaveLength(253)
      const names = [
        'xn--bcher-kva.example.com',
        '_dmarc.example.com',
        'con.example',
        'address.json',
        '-x.example.com',
        long,
      ]
      await (
        await open()
      ).save(
        new Map(names.map((domain) => [domain, new Map([['timeout', buildItem('1')]])])),
        'test',
      )
      expect([...(await (await open()).load()).keys()].toSorted()).toEqual(names.toSorted())
    })

    own('of a domain belongs to one id, also before the outcomes of its first apply', async () => {
      const domain = 'a.example.com'
      const nothing = buildDomain(domain, {})
      const state = buildTimeout(domain, '1')
      const [mine, theirs] = [await open('mine'), await open('theirs')]
      const refused = {
        code: 'owned-elsewhere',
        message: expect.stringContaining(`${domain} belongs to the workspace "mine"`) as string,
        hint: expect.stringContaining(`"edgewise state move ${domain} --to theirs"`) as string,
      }
      const expectRefused = async () => {
        const before = await kind.everything()
        await theirs.load()
        await expect(theirs.save(state, 'test')).rejects.toMatchObject(refused)
        await expect(begin(theirs, 'two', state)).rejects.toMatchObject(refused)
        expect(await kind.everything()).toEqual(before)
        expect(await theirs.findOwners([domain, 'b.example.com'])).toEqual(
          new Map([[domain, 'mine']]),
        )
      }
      await theirs.load()
      await theirs.save(buildTimeout('b.example.com', '2'), 'test')
      await mine.load()
      await begin(mine, 'one', state)
      expect(await mine.findOwners([domain])).toEqual(new Map())
      await expectRefused()
      await mine.recordOutcomes(buildApplied('one'), [1], state)
      await complete(mine, 'one')
      await mine.share?.()
      await expectRefused()
      const elsewhere = await open('theirs', 'https://other.example.net')
      await elsewhere.load()
      await elsewhere.save(state, 'test')
      await mine.save(nothing, 'test')
      await theirs.load()
      await theirs.save(state, 'test')
      expect((await (await open('theirs')).load()).has(domain)).toBe(true)
    })

    own('of a domain is recorded by at most one of two ids that begin together', async () => {
      const state = buildTimeout('a.example.com', '1')
      const stores = [
        await open('mine', undefined, 'one account'),
        await open('theirs', undefined, 'another account'),
      ] as const
      for (const store of stores) await store.load()
      await recordTogether(state, stores, open)
    })

    it('has one salt for all ids, which no change replaces or removes', async () => {
      const [one, two] = ['1'.repeat(32), '2'.repeat(32)]
      const mine = await open('mine')
      const theirs = await open('theirs', undefined, 'another account')
      for (const store of [mine, theirs]) {
        await store.load()
        expect(await store.loadSalt()).toBeNull()
      }
      mine.keepSalt(one)
      expect(await (await open('mine')).loadSalt()).toBeNull()
      const state = buildTimeout('a.example.com', '1')
      await mine.save(state, 'test')
      theirs.keepSalt(two)
      const other = buildTimeout('b.example.com', '2')
      await expect(theirs.save(other, 'test')).rejects.toMatchObject({
        code: 'record-moved',
        message: expect.stringContaining('another salt') as string,
      })
      await mine.save(new Map([['a.example.com', new Map()]]), 'forget')
      const later = await open('theirs', undefined, 'another account')
      await later.load()
      await later.save(other, 'test')
      await later.move(other, 'third', 'test')
      expect(await later.loadSalt()).toBe(one)
      expect(await (await open('mine')).loadSalt()).toBe(one)
    })

    it('has one salt if two processes begin together, that of the one that recorded', async () => {
      const salts = ['1'.repeat(32), '2'.repeat(32)]
      const stores = [
        await open('mine', undefined, 'one account'),
        await open('theirs', undefined, 'another account'),
      ]
      for (const store of stores) await store.load()
      const results = await Promise.allSettled(
        stores.map((store, i) => {
          store.keepSalt(salts[i] ?? '')
          return store.save(buildTimeout(`${i}.example.com`, '1'), 'test')
        }),
      )
      const won = salts.filter((_, i) => results[i]?.status === 'fulfilled')
      expect(won.length).toBeLessThan(2)
      const next = await open('third')
      await next.load()
      expect([await next.loadSalt()]).toEqual(won.length === 0 ? [null] : won)
    })

    own('moves to another id, with in-doubt items and those of a killed apply', async () => {
      const [a, b] = ['a.example.com', 'b.example.com']
      const doubt = buildItem('1', { status: 'in-doubt', candidates: [{ time: '1' }], open: true })
      const mine = await open('mine')
      await mine.load()
      await mine.save(
        new Map([
          ...buildDomain(a, { timeout: buildItem('1'), https: doubt }),
          ...buildTimeout(b, '2'),
        ]),
        'test',
      )
      await begin(mine, 'one', buildTimeout(a, '1'))
      const next = await open('mine')
      const recorded = await next.load()
      const moving = new Map([...recorded].filter(([domain]) => domain === a))
      await next.move(moving, 'theirs', 'Move')
      for (const { store } of [await kind.open('theirs'), await kind.open('theirs')])
        expect(await store.load()).toEqual(moving)
      expect(moving.get(a)?.get('timeout')).toMatchObject({ status: 'in-doubt', open: true })
      expect([...(await (await open('mine')).load()).keys()]).toEqual([b])
      expect((await (await open('mine')).listApplies()).map(({ id }) => id)).toEqual(['one'])
      const theirs = await open('theirs')
      await theirs.load()
      await begin(theirs, 'two', buildTimeout(a, '1'))
    })

    own('does not move over other state, or into an apply that may write the domain', async () => {
      const domain = 'a.example.com'
      const state = buildTimeout(domain, '1')
      const mine = await open('mine')
      await mine.load()
      await mine.save(state, 'test')
      const { store: theirs } = await kind.open('theirs')
      await theirs.load()
      // Earlier versions recorded a domain for two ids.
      const record = async (other: RecordedState) => {
        await theirs.recordOutcomes(buildApplied('old'), [], other)
        await theirs.endApply(buildApplied('old'))
        await theirs.share?.()
      }
      await record(buildTimeout(domain, '2'))
      const before = await kind.everything()
      await expect(mine.move(state, 'theirs', 'Move')).rejects.toMatchObject({
        code: 'owned-elsewhere',
        message: expect.stringContaining('"theirs" has other state of a.example.com') as string,
      })
      expect(await kind.everything()).toEqual(before)
      await record(state)
      await mine.move(state, 'theirs', 'Move')
      expect((await (await open('mine')).load()).size).toBe(0)
    })

    shared(
      'has a history whose entries follow from each other, and that nothing prunes',
      async () => {
        const by = { name: 'ada', knownBy: 'oidc' } as const
        const note = {
          at: recordedAt,
          by,
          commit: null,
          plan: null,
          reason: 'why',
          outcome: 'done',
        }
        const override = { kind: 'override', about: 'freeze', reason: 'an outage', outcome: 'done' }
        const killed = { kind: 'apply', about: 'killed', reason: null, outcome: 'interrupted' }
        const store = await open()
        await store.load()
        expect(await store.chain.load()).toMatchObject({ head: null, pending: 0, texts: new Map() })
        store.chain.add({ ...note, kind: 'import', about: 'a.example.com' })
        await store.save(buildTimeout('a.example.com', '1'), 'test')
        await store.save(buildTimeout('b.example.com', '1'), 'Nothing to record')
        await begin(store, 'one', buildTimeout('a.example.com', '1'))
        const overrides = [{ policy: 'freeze', reason: 'an outage' }]
        const ended = {
          endedAt: recordedAt,
          outcome: 'complete' as const,
          overrides,
          plan: 'sha256:1',
        }
        await store.endApply(buildApplied('one', ended))
        await begin(store, 'killed', buildTimeout('a.example.com', '99'))
        await store.share?.()
        // It has no lock.
        await (
          await open()
        ).chain.addLater({ ...note, kind: 'unlock', about: 'holder', reason: null })
        const next = await open()
        expect((await next.chain.load()).pending).toBe(1)
        await next.load()
        await next.prune([buildApplied('one')], 'Prune', { ...note, kind: 'prune', about: 'one' })
        for (const seen of [await open(), (await kind.elsewhere()).store]) {
          const chain = await seen.chain.load()
          const { findings, newest } = verifyChain(chain, { head: null, verifies: null })
          expect([findings, newest, chain.pending]).toEqual([[], next.chain.newest?.hash, 0])
          expect(listEntries(chain)).toEqual([
            { kind: 'import', about: 'a.example.com', by, reason: 'why', outcome: 'done' },
            { ...unidentified, ...override },
            { ...unidentified, kind: 'apply', about: 'one', reason: null, outcome: 'complete' },
            { kind: 'unlock', about: 'holder', by, reason: null, outcome: 'done' },
            { ...unidentified, ...killed },
            { kind: 'prune', about: 'one', by, reason: 'why', outcome: 'done' },
          ])
        }
        // Signed entries have their signatures beside them.
        next.chain.signer = (text) => Buffer.from(text.slice(0, 9)).toString('base64')
        next.chain.add({ ...note, kind: 'forget', about: 'b.example.com' })
        await next.save(new Map([['b.example.com', new Map()]]), 'Forget')
        const { texts } = await (await open()).chain.load()
        expect([texts.get('chain-0/6.sig'), texts.get('chain-0/7.sig')]).toEqual([
          undefined,
          'eyJhYm91dCI6\n',
        ])
      },
    )

    shared(
      'shows what was altered of an apply that has ended, but no apply that runs',
      async () => {
        const state = buildTimeout('a.example.com', '1')
        const store = await open()
        await store.load()
        for (const id of ['one', 'two']) {
          for (const number of [1, 2])
            await store.recordIntents(buildApplied(id), buildWave(id, state, number))
          await complete(store, id)
        }
        await begin(store, 'three', state)
        await store.share?.()
        const verify = async () => {
          const { findings } = verifyChain(await (await open()).chain.load(), nothingKnown)
          return findings.map(({ code, apply }) => [code, apply])
        }
        expect(await verify()).toEqual([])
        // The next command closes it.
        const next = await open()
        await next.load()
        await next.prune([buildApplied('one')], 'Prune', pruneNote)
        expect(await verify()).toEqual([])
        await kind.damage('journal/two.json', (text) => text.replace('somebody', 'eve'))
        expect(await verify()).toEqual([['altered', 'two']])
        await kind.damage('journal/two.json', (text) => text.replace('eve', 'somebody'))
        await kind.damage('batches/three/1.json', (text) => text.replace('99', '98'))
        expect(await verify()).toEqual([['altered', 'three']])
        await kind.damage('pruned/applies.json', (text) => text.replace('one', 'two'))
        expect(await verify()).toEqual([
          ['altered', undefined],
          ['altered', 'three'],
          ['lost', 'one'],
        ])
      },
    )

    own('with a damaged end of the history is refused', async () => {
      const store = await open()
      await begin(store, 'one', buildTimeout('a.example.com', '1'))
      await complete(store, 'one')
      await store.share?.()
      await kind.damage('chain.json', () => '{')
      // Before anything is sent whose end could not be recorded.
      await expect((await open()).load()).rejects.toMatchObject({ code: 'record-damaged' })
    })

    shared('prunes applies: they stay listed, and the state before them is gone', async () => {
      const state = buildTimeout('a.example.com', '1')
      const store = await open()
      await store.load()
      for (const [i, id] of ['one', 'two', 'three'].entries()) {
        const startedAt = `2026-11-20T00:00:0${i}.000Z`
        await store.recordIntents(buildApplied(id, { startedAt }), buildWave(id, state))
        await store.recordIntents(buildApplied(id, { startedAt }), buildWave(id, state, 2))
        await store.endApply(buildApplied(id, { startedAt, endedAt: startedAt }))
      }
      const applies = await store.listApplies()
      await store.prune(applies.slice(0, 1), 'Prune', pruneNote)
      await store.prune(applies.slice(0, 2), 'Prune, after an interrupted one', pruneNote)
      for (const seen of [await open(), (await kind.elsewhere()).store]) {
        expect(await seen.load()).toEqual(await store.load())
        expect(await seen.listApplies()).toEqual(applies.slice(2))
        expect(await seen.listPruned()).toEqual({ applies: applies.slice(0, 2), dropped: 0 })
        expect(await seen.loadStateBefore('two')).toEqual(new Map())
        expect(await seen.loadStateBefore('three')).toEqual(state)
      }
      const many = Array.from({ length: 1001 }, (_, i) => buildApplied(`old-${i}`))
      await store.prune(many, 'Prune', pruneNote)
      const { applies: listed, dropped } = await store.listPruned()
      expect([listed.length, listed.at(-1)?.id, dropped]).toEqual([1000, 'old-1000', 3])
    })

    own('of another id or address is separate', async () => {
      const keys: [string, string][] = [
        ['staging', 'https://api.example.net'],
        ['production', 'https://api.example.net'],
        ['production', 'http://api.example.net'],
        ['production', 'https://api.example.net:8443'],
        ['production', 'https://api.example.net/base'],
        ['production', 'https://api.example.net_base'],
        ['production', 'https://API.example.net'],
        ['production', 'emulator'],
        ['production', `https://${'a'.repeat(70)}.example.net`],
        ['production', `https://${'a'.repeat(70)}.example.com`],
        ['budget', 'https://api.example.net'],
        ['..x', 'https://[::1]:8080/a/../b'],
        ['.git', 'emulator'],
      ]
      const tried = every ? keys : [...keys.slice(0, 3), ...keys.slice(-3)]
      for (const [i, [id, address]] of tried.entries())
        await (await open(id, address)).save(buildTimeout(`${i}.example.com`, String(i)), 'test')
      for (const [i, [id, address]] of tried.entries()) {
        expect(
          (await (await open(id, address)).load()).get(`${i}.example.com`)?.get('timeout'),
          `${id} ${address}`,
        ).toEqual(buildItem(String(i)))
      }
      expect(await (await open('staging', 'emulator')).listOtherAddresses()).toEqual([
        'https://api.example.net',
      ])
      expect(await (await open('staging', 'https://api.example.net')).listOtherAddresses()).toEqual(
        [],
      )
      expect(await (await open('other', 'emulator')).listOtherAddresses()).toEqual([])
    })

    shared('shows the intents of an apply as in-doubt, at once and everywhere', async () => {
      const before = new Map([
        ...buildTimeout('a.example.com', '1'),
        ...buildDomain('b.example.com', { timeout: buildItem('2'), https: buildItem('3') }),
      ])
      const store = await open()
      await store.save(before, 'test')
      await begin(store, 'one', buildTimeout('a.example.com', '1'))
      for (const seen of [await open(), (await kind.elsewhere()).store]) {
        const recorded = await seen.load()
        expect(recorded.get('a.example.com')?.get('timeout')).toMatchObject({
          status: 'in-doubt',
          candidates: [{ time: '1' }, { time: '99' }],
          open: true,
        })
        expect(recorded.get('b.example.com')).toEqual(before.get('b.example.com'))
        expect(await seen.listApplies()).toEqual([buildApplied('one')])
      }
    })

    shared(
      'honours a doubt mark over what others have recorded, until the next change',
      async () => {
        const before = new Map([
          ...buildDomain('a.example.com', { timeout: buildItem('1'), https: buildItem('5') }),
          ...buildTimeout('b.example.com', '2'),
        ])
        const slow = await open()
        await slow.save(before, 'test')
        await begin(slow, 'one', before)
        const settled = buildTimeout('b.example.com', '99', { apply: 'one' })
        await slow.recordOutcomes(buildApplied('one'), [2], settled)
        await slow.share?.()

        const { store: next } = await kind.elsewhere()
        await next.load()
        const theirs = { timeout: buildItem('7'), ip_white_list: buildItem('6') }
        await next.save(buildDomain('a.example.com', theirs), 'theirs')
        await slow.markDoubtful('one', [1, 2], ['ip_white_list'])
        // The process that wrote in between is not disturbed.
        await next.save(buildTimeout('c.example.com', '8'), 'theirs')

        const { store: third } = await kind.elsewhere()
        const recorded = await third.load()
        expect(recorded.get('a.example.com')).toMatchObject(
          new Map([
            [
              'timeout',
              {
                status: 'in-doubt',
                candidates: [{ time: '7' }, { time: '1' }, { time: '99' }],
                unknown: true,
                open: true,
              },
            ],
            [
              'ip_white_list',
              { status: 'in-doubt', candidates: [{ time: '6' }], unknown: true, open: true },
            ],
            ['https', { status: 'in-doubt' }],
          ]),
        )
        expect(recorded.get('b.example.com')).toEqual(settled.get('b.example.com'))
        expect(recorded.get('c.example.com')?.get('timeout')).toEqual(buildItem('8'))
        await third.save(buildTimeout('a.example.com', '7'), 'theirs')
        const { store: last } = await kind.elsewhere()
        const now = await last.load()
        expect(now.get('a.example.com')).toEqual(new Map([['timeout', buildItem('7')]]))
        expect(now.get('c.example.com')?.get('timeout')).toEqual(buildItem('8'))
      },
    )

    own('has no doubt mark if all outcomes are recorded', async () => {
      const store = await open()
      const before = buildTimeout('a.example.com', '1')
      await begin(store, 'one', before)
      const after = buildTimeout('a.example.com', '99', { apply: 'one' })
      await store.recordOutcomes(buildApplied('one'), [1], after)
      await store.share?.()
      await store.markDoubtful('one', [1], [])
      expect(await (await open()).load()).toEqual(after)
    })

    shared('keeps the outcome of a settled write, for any outcome of the others', async () => {
      const before = new Map([
        ...buildTimeout('a.example.com', '1'),
        ...buildTimeout('b.example.com', '2'),
        ...buildTimeout('c.example.com', '3'),
      ])
      const store = await open()
      await store.save(before, 'test')
      await begin(store, 'one', before)
      await store.recordOutcomes(
        buildApplied('one'),
        [1],
        buildTimeout('a.example.com', '99', { apply: 'one' }),
      )
      // The service refused it: the state recorded before is valid again.
      await store.recordOutcomes(buildApplied('one'), [2], buildTimeout('b.example.com', '2'))
      await store.share?.()
      for (const seen of [await open(), (await kind.elsewhere()).store]) {
        const recorded = await seen.load()
        expect(recorded.get('a.example.com')?.get('timeout')).toEqual(
          buildItem('99', { apply: 'one' }),
        )
        expect(recorded.get('b.example.com')?.get('timeout')).toEqual(buildItem('2'))
        expect(recorded.get('c.example.com')?.get('timeout')?.status).toBe('in-doubt')
      }
      await store.endApply(buildApplied('one', { endedAt: recordedAt, outcome: 'incomplete' }))
      await store.share?.()
      expect(
        (await (await kind.elsewhere()).store.load()).get('c.example.com')?.get('timeout'),
      ).toEqual(buildItem('3'))
    })

    own('keeps a partial outcome of an unsettled write; the rest of it is in-doubt', async () => {
      const before = buildDomain('a.example.com', {
        timeout: buildItem('1'),
        https: buildItem('2'),
      })
      const store = await open()
      await store.save(before, 'test')
      await begin(store, 'one', before)
      await store.recordOutcomes(
        buildApplied('one'),
        [],
        buildDomain('a.example.com', {
          timeout: buildItem('99', { apply: 'one' }),
          https: buildItem('2'),
        }),
      )
      const recorded = (await (await open()).load()).get('a.example.com')
      expect(recorded?.get('timeout')?.status).toBe('confirmed')
      expect(recorded?.get('https')?.status).toBe('in-doubt')
    })

    own('an in-doubt outcome of an unsettled write does not end it: parts may follow', async () => {
      const before = buildTimeout('a.example.com', '1')
      const candidates = [{ time: '1' }, { time: '99' }]
      const store = await open()
      await store.save(before, 'test')
      await begin(store, 'one', before)
      const doubt = buildItem('', { status: 'in-doubt', candidates, apply: 'one', answered: true })
      await store.recordOutcomes(
        buildApplied('one'),
        [],
        buildDomain('a.example.com', { timeout: doubt }),
      )
      const known = (await (await open()).load()).get('a.example.com')?.get('timeout')
      expect(known).toEqual(
        buildItem('', { status: 'in-doubt', candidates, apply: 'one', open: true }),
      )
    })

    own('keeps items of an unfinished apply in-doubt until their next outcome', async () => {
      const before = new Map([
        ...buildTimeout('a.example.com', '1'),
        ...buildTimeout('b.example.com', '2'),
      ])
      const store = await open()
      await store.save(before, 'test')
      const begun = { confirmed: 0, refused: 0, inDoubt: 2, notSent: 7 }
      const counts = { writes: begun, parts: { ...begun, notSent: 9 } }
      await store.recordIntents(buildApplied('one', counts), buildWave('one', before))
      const next = await open()
      const seen = await next.load()
      expect(next.listUnfinished()).toMatchObject([{ id: 'one', author: 'somebody', ...counts }])
      expect(await next.listApplies()).toMatchObject([{ id: 'one', outcome: 'unfinished' }])
      await next.save(buildTimeout('a.example.com', '7'), 'test')
      const after = await (await open()).load()
      expect(after.get('a.example.com')).toEqual(new Map([['timeout', buildItem('7')]]))
      expect(after.get('b.example.com')).toEqual(seen.get('b.example.com'))
      const [cutOff] = await (await open()).listApplies()
      expect(cutOff).toMatchObject({
        id: 'one',
        endedAt: null,
        outcome: 'interrupted',
        ...counts,
      })
      await begin(next, 'two', buildTimeout('b.example.com', '2'))
      await next.recordOutcomes(
        buildApplied('two'),
        [1],
        buildTimeout('b.example.com', '9', { apply: 'two' }),
      )
      await complete(next, 'two')
      expect((await (await open()).load()).get('a.example.com')).toEqual(
        new Map([['timeout', buildItem('7')]]),
      )
      expect((await (await open()).load()).get('b.example.com')).toEqual(
        new Map([['timeout', buildItem('9', { apply: 'two' })]]),
      )
      expect((await (await open()).listApplies()).map(({ id }) => id)).toEqual(['one', 'two'])
    })

    own('knows the state before an apply, over all of its waves', async () => {
      const store = await open()
      await store.save(buildTimeout('a.example.com', '1'), 'test')
      const first = {
        ...buildWave('one', buildTimeout('a.example.com', '1')),
        before: new Map([
          [
            'a.example.com',
            new Map([
              ['timeout', buildItem('1')],
              ['https', null],
            ]),
          ],
        ]),
      }
      await store.recordIntents(buildApplied('one'), first)
      await begin(store, 'one', buildTimeout('a.example.com', '5'), 2)
      const late = { before: first.before, landWithinMs: 40_000, open: await (await open()).load() }
      expect(await (await open()).loadLateCalls('one')).toEqual(late)
      expect(await (await open()).loadLateCalls('none')).toEqual({
        before: new Map(),
        landWithinMs: 0,
        open: new Map(),
      })
      expect(await (await open()).loadStateBefore('one')).toEqual(first.before)
    })

    for (const [how, damage] of damages)
      own(`reports a file that is ${how} with its path, and writes nothing`, async () => {
        const store = await open()
        await store.save(
          new Map([...buildTimeout('a.example.com', '1'), ...buildTimeout('z.example.com', '2')]),
          'test',
        )
        await kind.damage('/a.example.com.json', damage)
        const before = await kind.everything()
        await expect(open().then((again) => again.load())).rejects.toMatchObject({
          code: 'record-damaged',
          message: expect.stringMatching(/a\.example\.com\.json/) as string,
          hint: expect.stringMatching(/./) as string,
        })
        expect(await kind.everything()).toEqual(before)
      })

    for (const file of ['/one.json', '/1.json'])
      own(`with a damaged journal (${file}) is reported with its path`, async () => {
        const store = await open()
        await begin(store, 'one', buildTimeout('a.example.com', '1'))
        for (const damage of [
          () => '',
          () => '{}',
          (text: string) => text.slice(0, -20),
          (text: string) => text.replace('/1"', '/2"'),
        ]) {
          await kind.damage(file, damage)
          await expect(open().then((again) => again.load())).rejects.toMatchObject({
            code: 'record-damaged',
            message: expect.stringContaining(file) as string,
          })
        }
      })

    const [ownCalls, sharedCalls] = calls ? [own, shared] : [() => {}, () => {}]
    ownCalls('keeps the calls of an account for all ids', async () => {
      const call = (n: number) => ({ at: n, boot: 'boot', up: n })
      await (await open('one')).saveCalls('x', [call(1), call(2)])
      expect((await (await open('two')).loadCalls()).calls).toEqual([call(1), call(2)])
      expect((await (await open('one', 'emulator')).loadCalls()).calls).toEqual([])
      for (const [i, account] of ['a@b', 'a_b', '..', 'A', 'x'.repeat(128)].entries())
        await (await open('one', 'emulator', account)).saveCalls('x', [call(i)])
      for (const [i, account] of ['a@b', 'a_b', '..', 'A', 'x'.repeat(128)].entries())
        expect((await (await open('two', 'emulator', account)).loadCalls()).calls).toEqual([
          call(i),
        ])
    })

    sharedCalls(
      'shares calls with the next change, and reports whether some may be missing',
      async () => {
        const store = await open()
        await store.load()
        await begin(store, 'one', buildTimeout('a.example.com', '1'))
        await store.saveCalls('one', [{ at: 1, boot: 'boot', up: 1 }])
        await store.recordOutcomes(buildApplied('one'), [], new Map())
        await store.share?.()
        const other = (await kind.elsewhere()).store
        await other.load()
        const known = await other.loadCalls()
        expect(known.calls).toEqual([{ at: 1, boot: 'boot', up: 1 }])
        // All users of a shared folder know every call.
        expect(known.incomplete).toBe(store.share !== null)
        const here = await open()
        await here.load()
        expect((await here.loadCalls()).incomplete).toBe(false)
      },
    )

    shared('has a lock with one holder at a time, visible everywhere', async () => {
      const [one, two] = [await kind.open(), await kind.elsewhere()]
      const lease = await acquireAccount(one, 'first')
      expect(await two.locks.listHolders(accountScope)).toEqual([buildHolder('first')])
      const isLocked = { code: 'locked', message: expect.stringContaining('first@host') as string }
      await expect(acquireAccount(two, 'second')).rejects.toMatchObject(isLocked)
      expect(await two.locks.listHolders(accountScope)).toEqual([buildHolder('first')])
      await lease.release()
      expect(await two.locks.listHolders(accountScope)).toEqual([])
      const next = await acquireAccount(two, 'second')
      await lease.look()
      expect(lease.check(0)).toEqual({ refused: expect.stringContaining('second@host') as string })
      await lease.release()
      expect(await one.locks.listHolders(accountScope)).toEqual([buildHolder('second')])
      await next.release()
      expect(await one.locks.listHolders(accountScope)).toEqual([])
    })

    shared('lets one of many win the lock', async () => {
      const opened = await Promise.all(
        Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? kind.open() : kind.elsewhere())),
      )
      const results = await Promise.allSettled(
        opened.map((each, i) => acquireAccount(each, `runner ${i}`)),
      )
      const won = results.findIndex(({ status }) => status === 'fulfilled')
      for (const [i, each] of results.entries())
        if (i !== won) expect(each).toMatchObject({ reason: { code: 'locked' } })
      const [holder] = (await opened[0]?.locks.listHolders(accountScope)) ?? []
      expect(holder?.token).toBe(`runner ${won}`)
      for (const each of results) if (each.status === 'fulfilled') await each.value.release()
    })
  })
}

/** Ways to damage a file; others are the same in every store. */
const damages: [string, (text: string) => string][] = [
  ['empty', () => ''],
  ['truncated', (text) => text.slice(0, text.length / 2)],
  ['of a newer version', (text) => text.replace('edgewise.record/1', 'edgewise.record/2')],
  ['of another domain', (text) => text.replace('a.example.com', 'b.example.com')],
]

/** Lets two ids begin with the same state at the same time: at most one records it. */
export async function recordTogether(
  state: RecordedState,
  [mine, theirs]: readonly [Store, Store],
  open: (id: string) => Promise<Store>,
): Promise<void> {
  const results = await Promise.allSettled([mine.save(state, 'mine'), begin(theirs, 'one', state)])
  const owners = await Promise.all(
    ['mine', 'theirs'].map(async (id) => (await (await open(id)).load()).size),
  )
  const won = results.map(({ status }) => (status === 'fulfilled' ? 1 : 0))
  expect(won.filter((each) => each === 1).length).toBeLessThan(2)
  expect(owners).toEqual(won)
}
