// @module-tag often
import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { hashJson } from '../../src/core/plan/basis.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { Place } from './cli.ts'
import { findHome, loadEntries } from './load-chain.ts'
import { lockElsewhere } from './lock-elsewhere.ts'
import { emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

const www = 'www.example.com'
const dayMs = 86_400_000
setStageInTime()
beforeEach(() => void (time.now = Date.UTC(2026, 10, 20, 12)))

const listKinds = () => loadEntries().map(({ kind }) => kind)
const apply = (seconds: number, ...more: string[]) => {
  place.manifest(www, { timeout: { time: seconds } })
  return place.cli('apply', '--yes', ...more)
}

async function verify(...more: string[]): Promise<JsonObject> {
  const { code, out } = await place.cli('state', 'verify', '--json', ...more)
  const verified = JSON.parse(out) as JsonObject
  expect(listSchemaErrors('verify', verified)).toEqual([])
  expect(code).toBe((verified['findings'] as Json[]).length === 0 ? 0 : 1)
  return verified
}

it('has an entry of each apply: who, the commit, the digest of the plan, the reason', async () => {
  expect(await verify()).toMatchObject({ findings: [], entries: 0, newest: null })
  place.manifest(www, { timeout: { time: 60 } })
  const { changes = [], writes = [] } = await place.json('plan')
  const { code, out } = await apply(60, '--reason', 'for the shop', '--json')
  expect(code).toBe(0)
  const finished = JSON.parse(out.trim().split('\n').at(-1) ?? '') as JsonObject
  const [entry] = loadEntries()
  expect(entry).toMatchObject({
    number: 1,
    previous: null,
    kind: 'apply',
    about: finished['apply'],
    by: { name: expect.stringContaining('@tests') as string, knownBy: 'unidentified' },
    plan: hashJson({ changes, writes }),
    reason: 'for the shop',
    outcome: 'complete',
  })
  const file = readFileSync(join(findHome(), 'chain-0/1.json'))
  expect(finished['history']).toBe(createHash('sha256').update(file).digest('hex'))
  const text = await place.cli('state', 'verify', '--head', String(finished['history']))
  expect([text.code, text.out.replaceAll(/since .*,/g, 'since then,')]).toEqual([
    0,
    'The history has 1 entry since then, each with the hash of the one before.\n' +
      `Newest hash: ${String(finished['history'])}\nThe known hash is that of one of them.\n`,
  ])
})

it('records rollbacks, imports, forgotten domains, removed locks, moves and prunes', async () => {
  for (const seconds of [60, 61, 62]) {
    expect((await apply(seconds)).code).toBe(0)
    time.now += 40 * dayMs
  }
  expect((await place.cli('rollback', '--yes', '--reason', 'too slow')).code).toBe(0)
  place.write('live.json', JSON.stringify({ [www]: { timeout: { time: 70 } } }))
  place.manifest(www, { timeout: { time: 70 } })
  expect((await place.cli('import', 'live.json', '--replace')).code).toBe(0)
  await lockElsewhere()
  place.otherProcessesDead = true
  const unlocked = await place.cli('state', 'unlock', '--yes', '--reason', 'it hangs')
  expect([unlocked.code, unlocked.err]).toEqual([0, unlocked.err])
  expect(await verify()).toMatchObject({ findings: [], pending: 1 })
  expect((await place.cli('state', 'prune', '--keep', '30d', '--yes')).code).toBe(0)
  expect((await place.cli('state', 'move', www, '--to', 'other', '--yes')).code).toBe(0)
  const entries = loadEntries().map(({ kind, reason, outcome }) => [kind, reason, outcome])
  expect(entries).toEqual([
    ['apply', null, 'complete'],
    ['apply', null, 'complete'],
    ['apply', null, 'complete'],
    ['rollback', 'too slow', 'complete'],
    // The first one is old enough.
    ['prune', null, 'done'],
    ['import', null, 'done'],
    ['unlock', 'it hangs', 'done'],
    ['prune', null, 'done'],
    ['move', null, 'to other'],
  ])
  expect(await verify()).toMatchObject({ findings: [], entries: 9, pending: 0 })
})

it('records approvals and other decisions, and of what was overridden', async () => {
  enterPlace(new Place(emulator.url, 'rollout: {waves: [1, 100%], pause: 1s, approval: [2]}\n'))
  place.write('policies/slow.yaml', policy)
  for (const name of ['a', 'b']) place.manifest(`${name}.example.com`, { timeout: { time: 60 } })
  const override = ['--override', 'slow', '--reason', 'an outage']
  expect((await place.cli('apply', '--yes', ...override)).code).toBe(0)
  const id = place.loadRollouts()[0]?.id ?? ''
  for (const verb of ['pause', 'resume', 'approve'])
    expect((await place.cli('rollout', verb, id)).code).toBe(0)
  expect((await place.cli('apply', '--yes', ...override)).code).toBe(0)
  const entries = loadEntries()
  expect(entries.map(({ kind, about, outcome }) => [kind, about, outcome])).toEqual([
    ['override', 'slow', 'done'],
    ['apply', `${id}-w1`, 'complete'],
    ['decision', id, 'paused'],
    ['decision', id, 'resumed'],
    ['approval', id, 'approved'],
    ['override', 'slow', 'done'],
    ['apply', `${id}-w2`, 'complete'],
  ])
  expect(entries[0]?.reason).toBe('an outage')
  expect(entries[4]?.plan).toMatch(/^sha256:/)
  expect(await verify()).toMatchObject({ findings: [], entries: 7 })
})

it('records the exceptions that a plan uses', async () => {
  const settings = ['user.name=t', 'user.email=t@example.com', 'commit.gpgsign=false']
  const git = (...args: string[]) =>
    execFileSync('git', [...settings.flatMap((each) => ['-c', each]), ...args], {
      cwd: place.root,
      stdio: 'ignore',
    })
  place.write('policies/slow.yaml', policy.replace('soft', 'hard'))
  const except = [{ policy: 'slow', reason: 'old clients', until: '2026-12-31' }]
  const config = { timeout: { time: 60 } }
  place.write(`domains/${www}.yaml`, JSON.stringify({ domain: www, except, config }))
  git('init', '-q', '-b', 'main')
  for (const message of ['one', 'two']) {
    git('add', '-A')
    git('commit', '--allow-empty', '-m', message)
  }
  const { code, err } = await place.cli('apply', '--yes')
  expect([code, err]).toEqual([0, err])
  expect(loadEntries()).toMatchObject([
    { kind: 'exception', about: 'slow', reason: 'old clients', outcome: 'until 2026-12-31' },
    { kind: 'apply', commit: expect.stringMatching(/^[0-9a-f]{40}$/) as string },
  ])
})

it('reports what was changed, or cut off, also as text', async () => {
  for (const seconds of [60, 61, 62]) expect((await apply(seconds)).code).toBe(0)
  const newest = String((await verify())['newest'])
  rmSync(join(findHome(), 'chain-0/2.json'))
  expect(await verify()).toMatchObject({
    findings: [{ code: 'missing', number: 3 }, { code: 'uncovered' }],
  })
  const text = await place.cli('state', 'verify')
  expect(text.out).toMatch(
    /^wrong: the history lacks entry 2\.\nwrong: apply .*\nThe history has 2 entries since /,
  )
  expect(text.out).toContain('Without --head this proves nothing')
  rmSync(join(findHome(), 'chain-0'), { recursive: true })
  rmSync(join(findHome(), 'chain.json'))
  const uncovered = [1, 2, 3].map(() => ({ code: 'uncovered' }))
  expect(await verify()).toMatchObject({ findings: uncovered, entries: 0 })
  expect(await verify('--head', newest)).toMatchObject({
    findings: [{ code: 'cut' }, ...uncovered],
  })
  expect((await apply(63)).code).toBe(0)
  expect(listKinds()).toEqual(['apply'])
  expect(await verify()).toMatchObject({ findings: uncovered, entries: 1 })
  const wrong = await place.cli('state', 'verify', '--head', 'x')
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('64 hex digits')])
})

it('signs with a key from a variable, which no output and no file shows', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const body = pem.split('\n')[1] ?? ''
  place.env['HISTORY_KEY'] = pem
  place.configure('sign: {key: {env: HISTORY_KEY}, public: keys/history.pem}')
  const exported = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  place.write('keys/history.pem', exported)
  const ran = [await apply(60, '-v', '--reason', `because of ${body}`), await apply(61, '--json')]
  expect(ran.map(({ code }) => code)).toEqual([0, 0])
  expect(await verify()).toMatchObject({ findings: [], entries: 2, signed: 2 })
  const files = readdirSync(place.root, { recursive: true, encoding: 'utf8' })
  const texts = files.flatMap((path) => {
    const file = join(place.root, path)
    return /\.(json|sig|jsonl|yaml)$/.test(path) ? [readFileSync(file, 'utf8')] : []
  })
  expect([...texts, ...ran.flatMap(({ out, err }) => [out, err])].join('')).not.toContain(body)
  expect(loadEntries()[0]?.reason).toBe('because of (key)')
  // Without the variable it is recorded all the same, and a later signature covers it.
  delete place.env['HISTORY_KEY']
  const unsigned = await apply(62)
  expect(unsigned.err).toContain('The history is not signed: the variable HISTORY_KEY of its key')
  expect(await verify()).toMatchObject({ findings: [{ code: 'unsigned', number: 3 }], signed: 2 })
  place.env['HISTORY_KEY'] = pem
  expect((await apply(63)).code).toBe(0)
  expect(await verify()).toMatchObject({ findings: [], entries: 4, signed: 3 })
  // Another key proves nothing, beside the old one both count.
  const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })
  place.write('keys/history.pem', other.toString())
  expect(await verify()).toMatchObject({ signed: 0 })
  place.write('keys/history.pem', `${other.toString()}${exported}`)
  expect(await verify()).toMatchObject({ findings: [], signed: 3 })
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
  const foreign = curve.export({ type: 'spki', format: 'pem' }).toString()
  for (const text of ['', 'x', pem, foreign, exported + foreign]) {
    place.write('keys/history.pem', text)
    const wrong = await place.cli('state', 'verify')
    expect([wrong.code, wrong.err]).toEqual([
      1,
      expect.stringContaining('expected only public Ed25519 keys'),
    ])
  }
})

const policy =
  'policy: slow\nlevel: soft\non: domain\nwhen: has(config.timeout)\n' +
  'deny: "true"\nmessage: too slow\n'
