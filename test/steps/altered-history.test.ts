// @module-tag often
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { hashEntry } from '../../src/state/format/chain-entry.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import journalSchema from '../../schemas/state/journal.schema.json' with { type: 'json' }
import { findHome } from './load-chain.ts'
import { place, setStageInTime, time } from './stage.ts'

const www = 'www.example.com'
setStageInTime()

/** Keys of the journal that no history shows: the progress of an apply until it ends. */
const notShown = ['settled', 'settledBatches']

/** Records three applies that overrode a policy, the first of which is pruned. */
beforeEach(async () => {
  time.now = Date.UTC(2026, 10, 20, 12)
  place.write(
    'policies/slow.yaml',
    'policy: slow\nlevel: soft\non: domain\nwhen: has(config.timeout)\n' +
      'deny: "true"\nmessage: too slow\n',
  )
  for (const seconds of [60, 61, 62]) {
    const config = { timeout: { time: seconds } }
    place.write(`domains/${www}.yaml`, JSON.stringify({ domain: www, config }))
    const lift = ['--override', 'slow', '--reason', 'an outage']
    const { code, err } = await place.cli('apply', '--yes', ...lift)
    expect([code, err]).toEqual([0, err])
    time.now += 40 * 86_400_000
    if (seconds === 61)
      expect((await place.cli('state', 'prune', '--keep', '30d', '--yes')).code).toBe(0)
  }
})

/** Verifies, and lists the history both ways; returns the three exit codes. */
async function look(): Promise<number[]> {
  const all = [
    await place.cli('state', 'verify'),
    await place.cli('state', 'history'),
    await place.cli('state', 'history', www),
  ]
  return all.map(({ code }) => code)
}

/** Lists the pointers of all texts, numbers and other ends of a value. */
function listEnds(value: Json, path: string[] = []): string[][] {
  if (value === null || typeof value !== 'object') return [path]
  return Object.entries(value).flatMap(([key, part]) => listEnds(part, [...path, key]))
}

/** Changes the value at a pointer, or removes it. */
function alter(text: string, path: string[], isRemoved: boolean): string {
  const root = JSON.parse(text) as JsonObject
  let parent = root
  for (const key of path.slice(0, -1)) parent = parent[key] as JsonObject
  const key = path.at(-1) ?? ''
  const old = parent[key]
  if (isRemoved) delete parent[key]
  else if (typeof old === 'number') parent[key] = old + 1
  else if (key === 'outcome') parent[key] = old === 'complete' ? 'incomplete' : 'complete'
  else if (/^\d{4}-\d\d-\d\dT/.test(String(old))) parent[key] = '2026-11-19T00:00:00.000Z'
  else parent[key] = key === 'knownBy' ? 'oidc' : old === 'eve' ? 'ada' : 'eve'
  return `${JSON.stringify(root, null, 2)}\n`
}

const listFiles = () =>
  readdirSync(findHome(), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(?:journal|batches|pruned|chain[^/]*)(?:\/.*)?\.json$/.test(path),
  )

it('is whole as it was recorded', async () => {
  expect(await look()).toEqual([0, 0, 0])
  const kinds = new Set(listFiles().map((path) => path.replace(/[-/.].*/, '')))
  expect([...kinds].toSorted()).toEqual(['batches', 'chain', 'journal', 'pruned'])
})

it('is shown as altered after a change or the loss of any field and any file', async () => {
  const wrong: unknown[] = []
  let count = 0
  for (const path of listFiles()) {
    const file = join(findHome(), path)
    const text = readFileSync(file, 'utf8')
    const check = async (what: string, altered: string | null) => {
      count++
      if (altered === null) rmSync(file)
      else writeFileSync(file, altered)
      const [verified, listed, ofDomain] = await look()
      // The list of all applies shows no changes; that of a domain only batches that name it.
      const shown = path.startsWith('batches/') ? [1, 0] : [1, 1]
      if (verified !== 1 || listed !== shown[1] || (ofDomain !== 1 && altered !== null))
        wrong.push([path, what, verified, listed, ofDomain])
      writeFileSync(file, text)
    }
    await check('file', null)
    for (const end of listEnds(JSON.parse(text) as Json)) {
      if (path.startsWith('journal/') && notShown.includes(end[0] ?? '')) continue
      await check(end.join('/'), alter(text, end, false))
      await check(`without ${end.join('/')}`, alter(text, end, true))
    }
  }
  expect([wrong, count > 200]).toEqual([[], true])
  expect(await look()).toEqual([0, 0, 0])
}, 600_000)

it('is shown as altered after the addition of any field', async () => {
  const path = listFiles().find((each) => each.startsWith('journal/')) ?? ''
  const file = join(findHome(), path)
  const text = readFileSync(file, 'utf8')
  const entry = JSON.parse(text) as JsonObject
  const samples: JsonObject = {
    onTopOf: 'c0ffee',
    by: { name: 'eve', knownBy: 'oidc' },
    exceptions: [{ policy: 'tls', reason: 'old clients', until: '2026-12-31' }],
    workspace: 'cdn/edgewise.yaml',
    committed: { author: 'eve', subject: 'Nothing' },
    refusals: [{ domains: ['a.example.com'], items: ['timeout'], code: 1, message: 'no' }],
  }
  const absent = Object.keys(journalSchema.properties).filter((key) => !(key in entry))
  expect(absent.filter((key) => !(key in samples))).toEqual([])
  for (const key of absent) {
    writeFileSync(file, JSON.stringify({ ...entry, [key]: samples[key] ?? null }))
    expect([key, await look()]).toEqual([key, [1, 1, 1]])
  }
})

it('names what was altered, removed and added, as text, JSON and page', async () => {
  const [path = ''] = listFiles().filter((each) => each.startsWith('journal/'))
  const file = join(findHome(), path)
  const text = readFileSync(file, 'utf8')
  const id = path.slice('journal/'.length, -'.json'.length)
  writeFileSync(file, text.replace('an outage', 'no reason'))
  const altered = `apply ${id} was altered: the history shows it otherwise than entry`
  const listed = await place.json('state', 'history')
  expect(listSchemaErrors('history', listed)).toEqual([])
  const sentence = expect.stringContaining(altered) as string
  expect(listed).toMatchObject({ findings: [{ code: 'altered', apply: id, message: sentence }] })
  const row = (listed['applies'] as JsonObject[]).find((each) => each['id'] === id)
  expect(row).toMatchObject({ fault: sentence })
  const shown = await place.cli('state', 'history', '--report', 'history.html')
  expect(shown.out.replaceAll(/\s+/g, ' ')).toMatch(/^wrong: apply .*? wrong: apply /)
  expect(place.read('history.html')).toContain(altered)
  // A copy under another name was never recorded.
  writeFileSync(file, text)
  const copy = file.replace(id, `${id}-w9`)
  writeFileSync(copy, text.replace(id, `${id}-w9`))
  expect((await place.json('state', 'verify'))['findings']).toMatchObject([
    { code: 'uncovered', number: null, apply: `${id}-w9` },
  ])
  rmSync(copy)
  rmSync(file)
  const verified = await place.json('state', 'verify')
  expect(listSchemaErrors('verify', verified)).toEqual([])
  expect(verified['findings']).toMatchObject([{ code: 'lost', apply: id }])
})

it('lacks what was removed even if the list of pruned applies is written anew', async () => {
  const [path = ''] = listFiles().filter((each) => each.startsWith('journal/'))
  rmSync(join(findHome(), path))
  const pruned = join(findHome(), 'pruned/applies.json')
  const text = readFileSync(pruned, 'utf8')
  writeFileSync(pruned, text.replace('"dropped": 0', '"dropped": 1'))
  expect(hashEntry(text)).not.toBe(hashEntry(readFileSync(pruned, 'utf8')))
  expect((await look()).slice(0, 2)).toEqual([1, 1])
})

it('is not whole without a chain, most of all if it is signed', async () => {
  const removeChain = () => {
    rmSync(join(findHome(), 'chain-0'), { recursive: true })
    rmSync(join(findHome(), 'chain.json'))
  }
  removeChain()
  expect(await look()).toEqual([1, 1, 1])
  rmSync(join(place.root, '.edgewise'), { recursive: true })
  expect((await look()).slice(0, 2)).toEqual([0, 0])
  const { publicKey } = generateKeyPairSync('ed25519')
  place.write('history.pem', publicKey.export({ type: 'spki', format: 'pem' }).toString())
  place.configure('sign: {key: {env: HISTORY_KEY}, public: history.pem}')
  expect((await look()).slice(0, 2)).toEqual([1, 1])
  expect((await place.cli('state', 'verify')).out.replaceAll(/\s+/g, ' ')).toContain(
    'the history has no entry, though "sign.public" in edgewise.yaml says that it is signed',
  )
})
