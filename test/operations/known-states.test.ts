import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hashText, type CacheFile } from '../../src/manifest/cache/cache-file.ts'
import type { Rollout } from '../../src/model/rollout.ts'
import { hashDesired } from '../../src/operations/hash-desired.ts'
import { loadWorkspace, type LoadedWorkspace } from '../../src/operations/load-workspace.ts'
import { createNodeOutside } from '../../src/operations/node-outside.ts'
import type { CachePart, Outside } from '../../src/operations/outside.ts'
import { plan } from '../../src/operations/plan.ts'
import type { SelectionRequest } from '../../src/operations/select.ts'
import { formatDomainFile } from '../../src/state/format/domain-file.ts'
import { formatEntry, formatMarker, formatWave } from '../../src/state/format/journal.ts'
import { buildLogName, formatLogLine } from '../../src/state/format/log-file.ts'
import { formatRollout } from '../../src/state/format/rollout-file.ts'
import { buildStatePaths } from '../../src/state/format/state-paths.ts'
import type { RecordedItem } from '../../src/state/store.ts'
import { everyNth, itOften } from '../runs.ts'
import { createFolder } from '../manifest/test-workspace.ts'

const key = { id: 'fleet', address: 'emulator' }
const paths = buildStatePaths(key)
const source = { at: '2026-01-01T00:00:00.000Z', apply: '20260101T000000Z-0000' }

/** Cache in memory, which counts its writes. */
class MemoryCache {
  readonly program = 'program'
  readonly texts = new Map<CachePart, string>()
  saves: CachePart[] = []

  open(_root: string, part: CachePart): CacheFile {
    return {
      load: () => this.texts.get(part) ?? null,
      save: (text) => {
        this.saves.push(part)
        this.texts.set(part, text)
      },
    }
  }
}

function createOutside(cache: MemoryCache | null): Outside {
  const { cache: _cache, pool: _pool, ...outside } = createNodeOutside(new AbortController().signal)
  const env = { HOME: '/nowhere', KEY: 'a-long-value-of-the-key' }
  return { ...outside, env, newId: () => 'id', ...(cache === null ? {} : { cache }) }
}

const load = (root: string, cache: MemoryCache | null): LoadedWorkspace =>
  loadWorkspace(root, createOutside(cache), 'available')

/** Plans, and returns everything that the command shows: also its error. */
async function planFleet(
  root: string,
  cache: MemoryCache | null,
  request: SelectionRequest = {},
): Promise<object> {
  return plan(load(root, cache), request, { outside: createOutside(cache) }).catch(
    ({ code, message }: { code: string; message: string }) => ({ code, message }),
  )
}

/** Text of the state of a domain; `change` replaces its items. */
function formatState(
  domain: string,
  change: (items: Map<string, RecordedItem>) => unknown = () => undefined,
): string {
  const record = (value: RecordedItem['candidates'][number]): RecordedItem => ({
    ...source,
    status: 'confirmed',
    candidates: [value],
    origin: 'import',
  })
  const items = new Map([
    ['origin_host', record({ host: 'o.example' })],
    ['timeout', record({ time: '60' })],
  ])
  change(items)
  return formatDomainFile(domain, items)
}

const buildName = (n: number) => `d${n}.example.com`
const place = (path: string) => `.edgewise/state/${path}`
const placeState = (n: number) => place(paths.domain(buildName(n)))

/** Creates a fleet whose state is that of its manifests. */
function createFleet(): string {
  const numbers = Array.from({ length: 100 }, (_, n) => n)
  return createFolder({
    'edgewise.yaml':
      'version: 1\nid: fleet\nstate: {store: dir}\nsecrets: {key: {env: KEY}}\n' +
      'guards: {maxChanges: 2%}\n',
    'profiles/base.yaml': 'profile: base\nconfig: {timeout: {time: 60}}\n',
    ...Object.fromEntries(numbers.map((n) => [`domains/d${n}.yaml`, writeManifest(n)])),
    ...Object.fromEntries(numbers.map((n) => [placeState(n), formatState(buildName(n))])),
  })
}

function writeManifest(n: number, host = 'o.example'): string {
  const config = `{origin_host: {host: "${host}"}}`
  return `domain: ${buildName(n)}\nprofiles: [base]\nconfig: ${config}\n`
}

/** Writes and removes files, and returns their texts before. */
function edit(root: string, files: Record<string, string | null>): typeof files {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => {
      const file = join(root, path)
      const before = existsSync(file) ? readFileSync(file, 'utf8') : null
      mkdirSync(dirname(file), { recursive: true })
      if (text === null) rmSync(file)
      else writeFileSync(file, text)
      return [path, before]
    }),
  )
}

/** Builds an edit of the state of one domain. */
const changeState = (
  change: (items: Map<string, RecordedItem>, timeout: RecordedItem) => unknown,
) => ({
  [placeState(3)]: formatState(buildName(3), (items) =>
    change(items, items.get('timeout') as RecordedItem),
  ),
})

/** Files of an apply that died when it set the timeout of a domain. */
function buildUnfinished(): Record<string, string> {
  const [id, at] = ['20260202T000000Z-0000', '2026-02-02T00:00:00.000Z']
  const counts = { confirmed: 0, refused: 0, inDoubt: 1, notSent: 0 }
  const intent: RecordedItem = {
    apply: id,
    at,
    status: 'in-doubt',
    candidates: [{ time: '60' }],
    origin: 'write',
    open: true,
  }
  const items = new Map([['timeout', intent]])
  return {
    [place(paths.marker(id))]: formatMarker(id),
    [place(paths.entry(id))]: formatEntry({
      id,
      startedAt: at,
      endedAt: null,
      commit: null,
      author: null,
      writes: counts,
      parts: counts,
      outcome: 'unfinished',
      settledBatches: 0,
      settled: [],
    }),
    [place(paths.wave(id, 1))]: formatWave({
      number: 1,
      before: new Map([[buildName(3), new Map([['timeout', null]])]]),
      intents: new Map([[1, new Map([[buildName(3), items]])]]),
      landWithinMs: 0,
    }),
  }
}

/** Builds a rollout that has domains on hold: one as recorded, one changed by hand. */
function buildRollout(root: string): Rollout {
  const { hashDomain, hashItem } = hashDesired(load(root, null))
  const held = [buildName(3), buildName(4)]
  const items = [...(load(root, null).desired.get(buildName(3))?.keys() ?? [])]
  const onHold = Object.fromEntries(
    held.map((domain) => [
      domain,
      Object.fromEntries(items.map((item) => [item, hashItem(domain, item)])),
    ]),
  )
  return {
    id: 'r1',
    startedAt: source.at,
    commit: null,
    author: null,
    state: 'stopped',
    reason: 'checks failed',
    items: [],
    asked: Object.fromEntries(held.map((domain) => [domain, hashDomain(domain)])),
    endedAt: source.at,
    values: onHold,
    onHold,
    waves: [{ domains: held, applied: null, passed: false }],
    released: [],
    applies: [],
  }
}

const another = { status: 'confirmed', candidates: [{ time: '61' }] } as const

/** Edits of a fleet after which a plan says something else than before, by name. */
const edits: Record<string, (root: string) => Record<string, string | null>> = {
  'a manifest': () => ({ 'domains/d3.yaml': writeManifest(3, 'other.example') }),
  'a profile': () => ({ 'profiles/base.yaml': 'profile: base\nconfig: {timeout: {time: 61}}\n' }),
  'an unset item': () => ({
    'domains/d3.yaml': `domain: ${buildName(3)}\nconfig: {timeout: {$unset: true}}\n`,
  }),
  'a secret': () => ({ 'domains/d3.yaml': writeManifest(3, '${secret:key}') }),
  'a removed manifest': () => ({ 'domains/d3.yaml': null }),
  'a new manifest': () => ({ 'domains/d100.yaml': writeManifest(100) }),
  'a manifest that is invalid': () => ({ 'domains/d3.yaml': 'domain: [\n' }),
  'a recorded value': () =>
    changeState((items, timeout) =>
      items.set('timeout', { ...timeout, ...another, candidates: [...another.candidates] }),
    ),
  'a recorded item that no manifest has': () =>
    changeState((items, timeout) =>
      items.set('connect_timeout', { ...timeout, candidates: [{ origin_connect_timeout: '5' }] }),
    ),
  'an item that is not recorded': () => changeState((items) => items.delete('timeout')),
  'an item in-doubt': () =>
    changeState((items, timeout) => items.set('timeout', { ...timeout, status: 'in-doubt' })),
  'an item recorded as unset': () =>
    changeState((items, timeout) => items.set('timeout', { ...timeout, status: 'unset' })),
  'an item that a late call may change': () =>
    changeState((items, timeout) => items.set('timeout', { ...timeout, late: source.apply })),
  'no state': () => ({ [placeState(3)]: null }),
  'a damaged state file': () => ({ [placeState(3)]: '{' }),
  'a state file of another domain': () => ({ [placeState(3)]: formatState(buildName(4)) }),
  'a state file at another path': () => ({
    [placeState(3)]: null,
    [place(`${paths.domains}/00/${buildName(3)}.json`)]: formatState(buildName(3)),
  }),
  'a change in a log': () => ({
    [place(`log/${buildLogName({ ...key, account: 'default' }, [1, 1])}`)]: formatLogLine(
      new Map([[paths.domain(buildName(3)), formatState(buildName(3), (all) => all.clear())]]),
    ),
  }),
  'an unfinished apply': () => buildUnfinished(),
  'domains on hold': (root) => ({
    ...changeState((items) => items.delete('timeout')),
    [place(paths.rollout('r1'))]: formatRollout(buildRollout(root)),
  }),
}

/** Creates a fleet, and a cache that knows all of it. */
async function createKnownFleet(): Promise<{ root: string; cache: MemoryCache }> {
  const [root, cache] = [createFleet(), new MemoryCache()]
  for (let i = 0; i < 2; i++) await planFleet(root, cache)
  expect(cache.saves).toEqual(['manifests', 'states'])
  return { root, cache }
}

describe('known state files', () => {
  itOften('change no plan, whatever has changed since', async () => {
    const { root, cache } = await createKnownFleet()
    const whole = await planFleet(root, null)
    expect(await planFleet(root, cache)).toEqual(whole)
    const texts = [...cache.texts]
    for (const [name, build] of everyNth(Object.entries(edits), 4)) {
      for (const [part, text] of texts) cache.texts.set(part, text)
      const before = edit(root, build(root))
      const edited = await planFleet(root, null)
      expect(edited, name).not.toEqual(whole)
      expect(await planFleet(root, cache), name).toEqual(edited)
      // Compared anew: what differs must not be known as equal.
      cache.texts.delete('states')
      for (let i = 0; i < 2; i++)
        expect(await planFleet(root, cache), `${name}, compared anew`).toEqual(edited)
      edit(root, before)
    }
    expect(await planFleet(root, cache)).toEqual(whole)
  })

  it('change no plan of selected domains and items', async () => {
    const { root, cache } = await createKnownFleet()
    edit(root, edits['a recorded value']?.(root) ?? {})
    for (const request of [
      { target: ['d3*'] },
      { items: ['timeout'] },
      { target: ['d4*'], items: ['origin_host'] },
      { items: ['https'] },
      { target: ['none.example.com'] },
    ])
      expect(await planFleet(root, cache, request)).toEqual(await planFleet(root, null, request))
  })

  it('are not compared again', async () => {
    const { root, cache } = await createKnownFleet()
    edit(root, edits['a recorded value']?.(root) ?? {})
    expect(await planFleet(root, cache)).toMatchObject({ plan: { summary: { change: 1 } } })
    // Only a test can do this: another text under the hash of the known one.
    const hashes = [formatState(buildName(3)), readFileSync(join(root, placeState(3)), 'utf8')]
    forge(cache, (body) => body.replace(hashText(hashes[0] ?? ''), hashText(hashes[1] ?? '')))
    expect(await planFleet(root, cache)).toMatchObject({ plan: { summary: { change: 0 } } })
  })

  it('are ignored when another program compared them, or the cache is damaged', async () => {
    const { root, cache } = await createKnownFleet()
    const { plan: whole } = (await planFleet(root, null)) as { plan: object }
    const text = cache.texts.get('states') ?? ''
    edit(root, edits['a recorded value']?.(root) ?? {})
    const [before, after] = [
      formatState(buildName(3)),
      readFileSync(join(root, placeState(3)), 'utf8'),
    ].map(hashText)
    cache.texts.set('states', text.replace(before ?? '', after ?? ''))
    expect(await planFleet(root, cache)).not.toMatchObject({ plan: whole })
    forge(cache, (body) => body.replace(before ?? '', after ?? ''), 'another')
    expect(await planFleet(root, cache)).not.toMatchObject({ plan: whole })
  })

  it('have neither values nor secrets in the cache', async () => {
    const { cache } = await createKnownFleet()
    expect(cache.texts.get('states')).toContain(buildName(3))
    expect(cache.texts.get('states')).not.toMatch(/o\.example|candidates|a-long-value/)
  })
})

/** Replaces the content of the compared states, with the right hash of the new one. */
function forge(cache: MemoryCache, replace: (body: string) => string, owner?: string): void {
  const text = cache.texts.get('states') ?? ''
  const end = text.indexOf('\n')
  const [format, stored] = text.slice(0, end).split(' ')
  const body = replace(text.slice(end + 1, -1))
  cache.texts.set('states', `${format} ${owner ?? stored} ${hashText(body)}\n${body}\n`)
}
