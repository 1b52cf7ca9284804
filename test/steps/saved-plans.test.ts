// @module-tag often
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { fc, itOften, runs } from '../runs.ts'
import { startAnsweringService } from './answering-service.ts'
import { fetchConfig, Place, fetchWrites } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

const www = 'www.example.com'

setStage()

const file = () => join(place.root, 'plan.json')
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    cwd: place.root,
    encoding: 'utf8',
  }).trim()
const savePlan = (...args: string[]) => place.cli('plan', '--out', 'plan.json', ...args)

describe('a saved plan', () => {
  it('is applied once, without a question', async () => {
    place.manifest(www, { timeout: { time: 60 }, https: { cert_id: 1 } })
    await savePlan()
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(await fetchConfig(emulator, www)).toMatchObject({
      timeout: { time: '60' },
      https: { cert_id: 1 },
    })
    const again = await place.cli('apply', 'plan.json')
    expect([again.code, again.err]).toEqual([
      1,
      expect.stringContaining(`the recorded state of ${www} changed`),
    ])
  })

  it('of one item is valid despite changes elsewhere', async () => {
    place.manifest(www, { timeout: { time: 60 }, https: { cert_id: 1 } })
    await savePlan('--item', 'https')
    place.manifest('other.example.com', { timeout: { time: 5 } })
    await place.cli('apply', '--yes', '--target', 'other.example.com')
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(Object.keys(await fetchConfig(emulator, www))).toEqual(['https'])
  })

  it('is stale when its manifest changed', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    await savePlan()
    const { code, err } = await place
      .manifest(www, { timeout: { time: 61 } })
      .cli('apply', 'plan.json')
    expect([code, err]).toEqual([1, expect.stringContaining(`the manifests of ${www} changed`)])
  })

  it.each([
    ['another workspace', () => [emulator.url, 'id: staging\n'], '"staging" at http://127'],
    [
      'another service address',
      () => ['http://127.0.0.1:1', ''],
      '"default" at http://127.0.0.1:1',
    ],
  ])('of %s is refused as such, with the same manifests and state', async (_what, about, named) => {
    place.manifest(www, { timeout: { time: 60 } })
    await savePlan()
    const [url = '', more = ''] = about()
    enterPlace(new Place(url, more, { root: place.root }))
    const { code, err } = await place.cli('apply', 'plan.json')
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining(`the plan file was not made for the workspace ${named}`),
    ])
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it.each([false, true])(
    'is stale with one reason if nothing is as planned (on another commit: %j)',
    async (isElsewhere) => {
      place.manifest(www, { timeout: { time: 60 } })
      await savePlan()
      place.manifest(www, { timeout: { time: 61 } })
      await place.cli('apply', '--yes')
      place.manifest(www, { timeout: { time: 62 } })
      const commit = 'a'.repeat(40)
      if (isElsewhere) {
        const saved = plan()
        place.write('plan.json', JSON.stringify({ ...saved, basis: { ...saved.basis, commit } }))
        git('init', '--quiet')
        git('commit', '--quiet', '--allow-empty', '--message', 'Begin')
      }
      const { code, err } = await place.cli('apply', 'plan.json')
      const here = isElsewhere ? git('rev-parse', '--short=12', 'HEAD') : ''
      const commits = isElsewhere ? ` (it was made at aaaaaaaaaaaa, this is ${here})` : ''
      expect([code, err.replace(/\s+/g, ' ')]).toEqual([
        1,
        'error: the plan is stale: the manifests and the recorded state of www.example.com ' +
          `differ from those that it was made for${commits} ` +
          'Make a new plan with "edgewise plan --out FILE". ',
      ])
    },
  )

  it('of another address is refused without the values of variables in the address', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    await savePlan()
    enterPlace(new Place('http://127.0.0.1:1/${env:PRIVATE}', '', { root: place.root }))
    place.env = { ...place.env, PRIVATE: 'private-path' }
    const { err } = await place.cli('apply', 'plan.json')
    expect(err).toContain('http://127.0.0.1:1/${env:PRIVATE}')
    expect(err).not.toContain('private-path')
  })

  it('is refused after grouping changed', async () => {
    place.manifest(www, { timeout: { time: 60 }, https: { cert_id: 1 } })
    await savePlan()
    place.groupAsDocumented()
    const { code, err } = await place.cli('apply', 'plan.json')
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining('differ from those that the planner makes for its changes'),
    ])
    expect(err).toContain('"grouping"')
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('with waves is sent at once with --no-waves, in the same writes', async () => {
    enterPlace(new Place(emulator.url, 'rollout: {waves: [1, 100%], pause: 0s}\n'))
    for (const name of ['a', 'b', 'c'])
      place.manifest(`${name}.example.com`, { timeout: { time: 60 } })
    await savePlan()
    expect(plan().writes).toHaveLength(2)
    expect((await place.cli('apply', 'plan.json', '--no-waves')).code).toBe(0)
    expect((await fetchWrites(emulator)).map(({ domains }) => domains.length)).toEqual([1, 2])
  })
})

/** Fields of a plan file that the tests use. */
interface PlanFile {
  changes: Json[]
  writes: {
    id: number
    wave: number
    domains: string[]
    config: JsonObject
    forms: Record<string, string>
  }[]
  basis: {
    desired: JsonObject
    recorded: JsonObject
    target: string[]
    items?: string[]
    commit: null
  }
  planner?: { version: number }
}

/** Loads the plan file. */
function plan(): PlanFile {
  return JSON.parse(readFileSync(file(), 'utf8')) as PlanFile
}

describe('an altered plan file', () => {
  const origin = { default_master: '192.0.2.1' }
  const evil = { default_master: '203.0.113.66', origin_mode: 'default' }

  it.each<[string, (altered: PlanFile, first: PlanFile['writes'][0]) => void]>([
    [
      'certificate 0 without --allow',
      (_, { config }) => void (config['https'] = { cert_id: 0, force_https: 0 }),
    ],
    [
      'certificate 0 before the right one, without --allow',
      ({ writes: all }, first) =>
        void all.unshift({
          ...first,
          config: { https: { cert_id: 0, force_https: 0 } },
          forms: { https: 'replace' },
        }),
    ],
    [
      'a foreign origin before the right one',
      ({ writes: all }, first) =>
        void all.unshift({ ...first, config: { origin: evil }, forms: { origin: 'replace' } }),
    ],
    [
      'a foreign origin after the right one',
      ({ writes: all }, first) =>
        void all.push({ ...first, config: { origin: evil }, forms: { origin: 'replace' } }),
    ],
    ['another value', (_, { config }) => void (config['origin'] = evil)],
    ['a repeated write', ({ writes: all }, first) => void all.push(first)],
    ['an id given twice', ({ writes: all }) => all.forEach((write) => void (write.id = 1))],
    ['a domain given twice', (_, { domains }) => void domains.push(www)],
    ['another domain', (_, { domains }) => void domains.push('evil.example.com')],
    [
      'a false form',
      (_, { forms }) => Object.keys(forms).forEach((item) => void (forms[item] = 'append')),
    ],
    ['a form of an item that is not written', (_, { forms }) => void (forms['extend'] = 'replace')],
    ['another wave', (_, first) => void (first.wave = 2)],
    ['no writes', (altered) => void (altered.writes = [])],
    ['no changes', (altered) => void (altered.changes = [])],
    ['an item that does not exist', (_, { config }) => void (config['nonsense'] = 1)],
    [
      'an emptied basis',
      (altered) => void (altered.basis = { desired: {}, recorded: {}, target: [], commit: null }),
    ],
    ['hashes emptied', ({ basis }) => void (basis.recorded = {})],
    ['a glob in the basis', ({ basis }) => void (basis.desired['*'] = basis.desired[www] ?? null)],
    ['an item list that chooses less', ({ basis }) => void (basis.items = ['timeout'])],
    ['an item list of no items', ({ basis }) => void (basis.items = ['nonsense'])],
    ['no planner', (altered) => void delete altered.planner],
    ['another planner', (altered) => void (altered.planner = { version: 99 })],
  ])('is refused and sends nothing: %s', async (_what, alter) => {
    place.groupAsDocumented()
    await place.manifest(www, { https: { cert_id: 1 }, origin }).settle()
    place.manifest(www, {
      https: { cert_id: 2 },
      origin: { default_master: '192.0.2.9' },
      timeout: { time: 60 },
    })
    await savePlan()
    const altered = plan()
    const [first] = altered.writes
    if (first === undefined) throw new Error('expected the plan to have a write')
    alter(altered, first)
    expect(altered).not.toEqual(plan())
    writeFileSync(file(), JSON.stringify(altered))
    const before = (await fetchWrites(emulator)).length
    const { code, err } = await place.cli('apply', 'plan.json')
    expect([code, err]).toEqual([1, expect.stringContaining('edgewise plan --out FILE')])
    expect(await fetchWrites(emulator)).toHaveLength(before)
  })

  it.each<[string, (text: string) => string, string]>([
    [
      'nests without end',
      (text) => text.replace('{', `{"x": ${'['.repeat(100_000)}${']'.repeat(100_000)},`),
      'or has more than 100 levels',
    ],
    [
      'has the key of a prototype',
      (text) => text.replace('{', '{"__proto__": {"noted": true},'),
      'at /: no plan has a key "__proto__"',
    ],
    [
      'has the key of a prototype in a write',
      (text) => text.replace('"wave"', '"__proto__": null, "wave"'),
      'at /writes/0: no plan has a key "__proto__"',
    ],
    [
      'is of a newer version',
      (text) => text.replace('edgewise.plan/1', 'edgewise.plan/2'),
      'got edgewise.plan/2; a newer edgewise wrote it',
    ],
    [
      'lacks a key of a write',
      (text) => text.replace('"wave"', '"waves"'),
      'expected /writes/0/wave, got nothing there',
    ],
    [
      'has a hash of another kind',
      (text) => text.replace(/sha256:/, 'md5:'),
      `at /basis/desired/${www}: expected a hash such as sha256:`,
    ],
  ])('is refused with the position if it %s', async (_how, alter, message) => {
    place.manifest(www, { timeout: { time: 60 } })
    await savePlan()
    writeFileSync(file(), alter(readFileSync(file(), 'utf8')))
    const { code, err } = await place.cli('apply', 'plan.json')
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([1, expect.stringContaining(message)])
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('of another planner version is refused with both versions', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    await savePlan()
    writeFileSync(file(), JSON.stringify({ ...plan(), planner: { version: 7 } }))
    expect((await place.cli('apply', 'plan.json')).err.replace(/\s+/g, ' ')).toContain(
      'it was made by version 7 of the planner, this is version 1',
    )
  })

  it('is refused if truncated', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    await savePlan()
    const text = readFileSync(file(), 'utf8')
    writeFileSync(file(), text.slice(0, text.length / 2))
    expect((await place.cli('apply', 'plan.json')).code).toBe(1)
    expect(await fetchWrites(emulator)).toEqual([])
  })

  itOften('sends the writes of the original plan or nothing, for any alteration', async () => {
    const sent: Json[] = []
    const server = await startAnsweringService((body) => {
      sent.push({ domains: body['domains'] ?? null, config: body['config'] ?? null })
      return [200, { code: 0, data: { config: body['config'] ?? null } }]
    })
    enterPlace(new Place(server.url, 'rollout: {waves: [2, 100%], pause: 0s}\n'))
    place.groupAsDocumented()
    const domains = ['a', 'b', 'c', 'd'].map((name) => `${name}.example.com`)
    for (const [i, domain] of domains.entries())
      place.manifest(domain, {
        https: { cert_id: 1 },
        ip_black_list: { list: [`192.0.2.${i}`] },
        origin,
      })
    await place.settle()
    for (const [i, domain] of domains.entries())
      place.manifest(domain, {
        https: { cert_id: 1 + (i % 2) },
        ip_black_list: { list: [`192.0.2.${i}`, '203.0.113.9'] },
        ...(i === 3 ? {} : { origin }),
        timeout: { time: 60 },
      })
    await savePlan()
    const honest = JSON.parse(readFileSync(file(), 'utf8')) as Json
    const [state, kept] = [join(place.root, '.edgewise'), join(place.root, 'kept')]
    cpSync(state, kept, { recursive: true })
    const tryFile = async (text: string) => {
      rmSync(state, { recursive: true })
      cpSync(kept, state, { recursive: true })
      sent.length = 0
      writeFileSync(file(), text)
      const { code } = await place.cli('apply', 'plan.json')
      return { code, calls: [...sent] }
    }
    const expected = await tryFile(JSON.stringify(honest))
    expect(expected.code).toBe(0)
    expect(expected.calls.length).toBeGreaterThan(3)
    const all = placesIn(honest)
    // Mostly in the writes.
    const places = [
      ...all,
      ...all.filter(([key]) => key === 'writes').flatMap((path) => [path, path, path]),
    ]
    let refused = 0
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.nat(),
        fc.constantFrom(...alterations),
        async (where, from, alter) => {
          const altered = structuredClone(honest)
          alter(
            altered,
            places[where % places.length] ?? [],
            valueAt(honest, places[from % places.length] ?? []),
          )
          const { code, calls } = await tryFile(JSON.stringify(altered))
          if (code !== 0) refused++
          expect(calls).toEqual(code === 0 ? expected.calls : [])
        },
      ),
      { numRuns: runs(5, 135) },
    )
    expect(refused).toBeGreaterThan(runs(1, 5))
  })
})

type Path = (string | number)[]

/** Alterations of JSON at a path; `other` is a value from elsewhere in the file. */
const alterations: ((altered: Json, path: Path, other: Json) => void)[] = [
  (altered, path, other) => put(altered, path, structuredClone(other)),
  (altered, path) => put(altered, path, null),
  (altered, path) => put(altered, path, []),
  (altered, path) => put(altered, path, {}),
  (altered, path) => put(altered, path, 0),
  (altered, path) => put(altered, path, '*'),
  (altered, path) => put(altered, path, { cert_id: 0, force_https: 0 }),
  (altered, path) => put(altered, path, 'unset'),
  (altered, path) => {
    const parent = valueAt(altered, path.slice(0, -1))
    const key = path.at(-1) ?? ''
    if (Array.isArray(parent)) parent.splice(Number(key), 1)
    else if (isObject(parent)) delete parent[key]
  },
  (altered, path, other) => {
    const target = valueAt(altered, path)
    if (Array.isArray(target)) target.push(target[0] ?? other)
    else if (isObject(target)) target['added'] = other
  },
  (altered, path) => {
    const target = valueAt(altered, path)
    if (Array.isArray(target)) target.reverse()
  },
]

/** Lists the path of every value in JSON except the root. */
function placesIn(value: Json, path: Path = []): Path[] {
  const entries: [string | number, Json][] = Array.isArray(value)
    ? value.map((entry, i) => [i, entry])
    : isObject(value)
      ? Object.entries(value)
      : []
  return entries.flatMap(([key, field]) => [[...path, key], ...placesIn(field, [...path, key])])
}

function valueAt(value: Json, path: Path): Json {
  return path.reduce<Json>((at, key) => {
    if (Array.isArray(at)) return at[Number(key)] ?? null
    return isObject(at) ? (at[key] ?? null) : null
  }, value)
}

function put(value: Json, path: Path, entry: Json): void {
  const parent = valueAt(value, path.slice(0, -1))
  const key = path.at(-1) ?? ''
  if (Array.isArray(parent)) parent[Number(key)] = entry
  else if (isObject(parent)) parent[key] = entry
}
