import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  describeApplied,
  formatChainEntry,
  hashEntry,
  type HistoryNote,
} from '../../src/state/format/chain-entry.ts'
import { nameEntry } from '../../src/state/format/state-paths.ts'
import { verifyChain, type StoredChain } from '../../src/state/format/verify-chain.ts'
import { headFile } from '../../src/core/model/generated/state-validators.ts'
import { formatFile } from '../../src/state/format/parse-file.ts'
import { itLong, runs, seed } from '../runs.ts'
import { buildApplied, recordedAt } from './store-contract.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const verifies = (text: string, signature: Uint8Array) =>
  verify(null, Buffer.from(text), publicKey, signature)

function buildNote(about: string, more: Partial<HistoryNote> = {}): HistoryNote {
  const by = { name: 'ada', knownBy: 'unidentified' } as const
  const none = { commit: null, plan: null, reason: null }
  return { at: recordedAt, kind: 'apply', about, by, ...none, outcome: 'complete', ...more }
}

/** Builds a signed history of a workspace. */
function buildChain(home: string, notes: HistoryNote[]): StoredChain & { head: string } {
  const texts = new Map<string, string>()
  let previous: string | null = null
  for (const [i, note] of notes.entries()) {
    const text: string = formatChainEntry({ home, number: i + 1, previous, ...note })
    texts.set(`${nameEntry(i + 1)}.json`, text)
    const signature = sign(null, Buffer.from(text), privateKey).toString('base64')
    texts.set(`${nameEntry(i + 1)}.sig`, `${signature}\n`)
    previous = hashEntry(text)
  }
  return {
    home,
    texts,
    pending: 0,
    head: formatFile(headFile, { number: notes.length, hash: previous ?? '' }),
  }
}

const notes = Array.from({ length: 300 }, (_, i) => buildNote(`apply-${i}`))
const whole = buildChain('default/emulator', notes)
const other = buildChain('staging/emulator', notes)
const known = (number: number) => hashEntry(whole.texts.get(`${nameEntry(number)}.json`) ?? '')
const nothing = { head: null, verifies: null }
const codes = (chain: StoredChain, knowledge: Parameters<typeof verifyChain>[1] = nothing) => [
  ...new Set(verifyChain(chain, knowledge).findings.map(({ code }) => code)),
]
/** Changes the files of the history. */
const change = (...files: [string, string | null][]): StoredChain => {
  const texts = new Map(whole.texts)
  for (const [path, text] of files)
    if (text === null) texts.delete(path)
    else texts.set(path, text)
  return { ...whole, texts }
}

describe('a chained history', () => {
  it('that is whole has no fault, and proves what is known', () => {
    expect(verifyChain(whole, { head: known(200), verifies })).toEqual({
      findings: [],
      entries: 300,
      since: recordedAt,
      newest: known(300),
      signed: 300,
      acts: [],
      hasHead: true,
      pending: 0,
    })
    expect(verifyChain({ home: 'a/b', texts: new Map(), head: null, pending: 0 }, nothing)).toEqual(
      {
        findings: [],
        entries: 0,
        since: null,
        newest: null,
        signed: null,
        acts: [],
        hasHead: null,
        pending: 0,
      },
    )
  })

  it.each<[string, StoredChain, string[]]>([
    ['an entry is missing', change(['chain-0/7.json', null], ['chain-0/7.sig', null]), ['missing']],
    [
      'the first one is missing',
      change(['chain-0/1.json', null], ['chain-0/1.sig', null]),
      ['missing'],
    ],
    [
      'an entry is changed',
      change(['chain-0/7.json', whole.texts.get('chain-0/7.json')?.replace('ada', 'eve') ?? '']),
      ['unlinked'],
    ],
    ['a file is not JSON', change(['chain-0/7.json', '{']), ['damaged', 'unlinked']],
    [
      'two entries changed places',
      change(
        ['chain-0/7.json', whole.texts.get('chain-0/8.json') ?? ''],
        ['chain-0/8.json', whole.texts.get('chain-0/7.json') ?? ''],
      ),
      ['misplaced', 'unlinked'],
    ],
    ['an entry is in another folder', change(['chain-1/7.json', '{}']), ['misplaced']],
    ['there is a foreign file', change(['chain-0/notes.txt', '']), ['misplaced']],
    ['there is a signature of nothing', change(['chain-1/301.sig', '']), ['misplaced']],
    [
      'an entry is of another workspace',
      change(['chain-0/7.json', other.texts.get('chain-0/7.json') ?? '']),
      ['foreign', 'unlinked'],
    ],
    ['all of it is of another workspace', { ...other, home: whole.home }, ['foreign']],
    [
      'the newest entry is gone',
      change(['chain-1/300.json', null], ['chain-1/300.sig', null]),
      ['cut'],
    ],
    ['the file of the newest entry is gone', { ...whole, head: null }, ['damaged']],
    ['all entries are gone', { ...whole, texts: new Map() }, ['cut']],
    ['the first entry follows from another one', buildChainAfter('0a'.repeat(32)), ['unlinked']],
  ])('is found out if %s', (_, chain, expected) => {
    expect(codes(chain)).toEqual(expected)
  })

  itLong('that was cut, or written anew, needs a known hash or signatures to be found out', () => {
    const cut = buildChain(whole.home, notes.slice(0, 290))
    expect(codes(cut)).toEqual([])
    expect(codes(cut, { head: null, verifies })).toEqual([])
    expect(codes(cut, { head: known(300), verifies: null })).toEqual(['cut'])
    const anew = buildChain(whole.home, [buildNote('forged'), ...notes.slice(1)])
    const unsigned = [...anew.texts].filter(([path]) => path.endsWith('.json'))
    const forged = { ...anew, texts: new Map(unsigned) }
    expect(codes(forged)).toEqual([])
    expect(codes(forged, { head: null, verifies })).toEqual(['unsigned'])
    expect(codes(forged, { head: known(1), verifies: null })).toEqual(['cut'])
  })

  itLong('may have entries without a signature before one with it, but not after', () => {
    const early = change(['chain-0/1.sig', null], ['chain-0/7.sig', null])
    expect(verifyChain(early, { head: null, verifies })).toMatchObject({
      findings: [],
      signed: 298,
    })
    expect(
      verifyChain(change(['chain-1/300.sig', null]), { head: null, verifies }).findings,
    ).toEqual([
      {
        code: 'unsigned',
        number: 300,
        message: 'no valid signature covers the entries from 300 on.',
      },
    ])
    expect(codes(change(['chain-0/7.sig', 'AAAA\n']), { head: null, verifies })).toEqual([
      'unsigned',
    ])
  })

  it('records an apply after what was overridden and excepted for it', () => {
    const applied = buildApplied('one-rollback', {
      endedAt: '2026-11-20T00:00:09.000Z',
      outcome: 'incomplete',
      overrides: [{ policy: 'freeze', reason: 'an outage' }],
      exceptions: [{ policy: 'tls', reason: 'old clients', until: '2026-12-01' }],
      plan: 'sha256:1',
      reason: 'an outage',
    })
    const recorded = describeApplied(applied).map(({ kind, about, reason, outcome }) => {
      return { kind, about, reason, outcome }
    })
    expect(recorded).toEqual([
      { kind: 'override', about: 'freeze', reason: 'an outage', outcome: 'done' },
      { kind: 'exception', about: 'tls', reason: 'old clients', outcome: 'until 2026-12-01' },
      { kind: 'rollback', about: 'one-rollback', reason: 'an outage', outcome: 'incomplete' },
    ])
    expect(new Set(describeApplied(applied).map(({ at }) => at))).toEqual(
      new Set(['2026-11-20T00:00:09.000Z']),
    )
    expect(describeApplied(buildApplied('two', { author: null }))).toMatchObject([
      { kind: 'apply', at: recordedAt, by: { name: 'unknown' } },
    ])
  })

  itLong('is found out after any of many random changes', () => {
    const random = createRandom(seed)
    const tried = new Map<string, number>()
    for (let i = 0; i < runs(60, 1000); i++) {
      const { name, chain, needs } = mutate(random)
      tried.set(name, (tried.get(name) ?? 0) + 1)
      const knowledge = needs === 'head' ? { head: known(300), verifies: null } : nothing
      const found = codes(chain, needs === 'key' ? { head: null, verifies } : knowledge)
      expect([i, name, found.length > 0]).toEqual([i, name, true])
    }
    expect(tried.size).toBe(8)
  })
})

function buildChainAfter(previous: string): StoredChain {
  const text = formatChainEntry({ home: 'a/b', number: 1, previous, ...buildNote('one') })
  const head = formatFile(headFile, { number: 1, hash: hashEntry(text) })
  return { home: 'a/b', texts: new Map([['chain-0/1.json', text]]), head, pending: 0 }
}

/** Draws whole numbers below a limit: a linear congruential generator. */
function createRandom(start: number): (limit: number) => number {
  let state = start >>> 0
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** A changed history, and what somebody has to know to find it out. */
interface Mutated {
  name: string
  chain: StoredChain
  needs?: 'head' | 'key'
}

function mutate(random: (limit: number) => number): Mutated {
  const path = (number: number) => `${nameEntry(number)}.json`
  const getText = (number: number) => whole.texts.get(path(number)) ?? ''
  const one = 1 + random(300)
  const two = 1 + ((one + random(299)) % 300)
  const flip = (text: string) => {
    const at = random(text.length)
    const code = text.charCodeAt(at) ^ (1 << random(7))
    return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1)
  }
  const signature = path(one).replace('.json', '.sig')
  const all: (() => Mutated)[] = [
    () => ({ name: 'flip', chain: change([path(one), flip(getText(one))]) }),
    () => ({ name: 'flip head', chain: { ...whole, head: flip(whole.head) } }),
    () => ({
      name: 'flip signature',
      chain: change([signature, flip(whole.texts.get(signature) ?? '')]),
      needs: 'key',
    }),
    () => ({ name: 'drop', chain: change([path(one), null], [signature, null]) }),
    () => ({
      name: 'reorder',
      chain: change([path(one), getText(two)], [path(two), getText(one)]),
    }),
    () => {
      // Every later entry gets the next number, as somebody with the program would do it.
      const more = [...notes.slice(0, one), buildNote('inserted'), ...notes.slice(one)]
      return { name: 'insert', chain: buildChain(whole.home, more), needs: 'head' }
    },
    () => {
      const left = buildChain(whole.home, notes.slice(0, one - 1))
      return { name: 'truncate', chain: left, needs: 'head' }
    },
    () => {
      const moved = other.texts.get(path(one)) ?? ''
      const isWhole = random(2) === 0
      const chain = isWhole ? { ...other, home: whole.home } : change([path(one), moved])
      return { name: 'swap workspaces', chain }
    },
  ]
  const make = all[random(all.length)]
  if (make === undefined) throw new RangeError('expected a mutation')
  return make()
}
