// @module-tag often
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { parseJson } from '../../src/core/model/json.ts'
import { checkWrites } from '../state/checked-disk.ts'
import { fileKinds, findSchemaFaults } from '../state/state-schemas.ts'
import { setFaults, Place } from './cli.ts'
import { emulator, enterPlace, runInPause, place, setStageInTime, time } from './stage.ts'

/** Schema of each file in the state folder, by path. */
const kinds: [RegExp, string][] = [
  [/^default\/addresses\/[^/]+\.json$/, 'address'],
  [/^default\/[^/]+\/domains\/[0-9a-f]{2}\/[^/]+\.json$/, 'domain'],
  [/^default\/[^/]+\/journal\/[^/]+\.json$/, 'journal'],
  [/^default\/[^/]+\/open\/[^/]+\.json$/, 'open'],
  [/^default\/[^/]+\/batches\/[^/]+\/\d+\.json$/, 'batch'],
  [/^default\/[^/]+\/restraints\.json$/, 'restraints'],
  [/^default\/[^/]+\/moved\/[^/]+\.json$/, 'moved'],
  [/^default\/[^/]+\/pruned\/applies\.json$/, 'pruned'],
  [/^default\/[^/]+\/(?:ended|rollouts)\/[^/]+\.json$/, 'rollout'],
  [/^default\/[^/]+\/chain-\d+\/\d+\.json$/, 'chain'],
  [/^default\/[^/]+\/chain\.json$/, 'head'],
  [/^default\/unlocks\/[^/]+\/[0-9a-f]{16}\.json$/, 'unlock'],
  [/^default\/traffic\/[^/]+\/figures\.json$/, 'traffic'],
  [/^default\/doubts\/[^/]+\/[^/]+\.json$/, 'doubt'],
  [/^salt\/[^/]+\/[0-9a-f]{8}\.json$/, 'salt'],
  [/^budget\/[^/]+\/[^/]+\.json$/, 'calls'],
  [/^lock\/[^/]+\/[^/]+\/test-\d+\.tmp$/, 'lock'],
  [/^stop\/for-[^/]+\/[^/]+\/test-\d+\.tmp$/, 'stop'],
  [/^log\/default\.default\.[0-9a-f]{16}\.\d+-\d+\.jsonl$/, 'log'],
]

const secrets = 'secrets: {signing: {env: SIGNING_KEY}}\n'
const signed = {
  pattern: '.*',
  time_format: 'timestamp',
  key: '${secret:signing}',
  deadtime: 1800,
  req_uri_type: 1,
}

/** Written texts, by path in the state folder. */
let written: [path: string, text: string][] = []

setStageInTime()
beforeEach(() => {
  written = []
  const made = new Place(emulator.url, `rollout: {waves: [1, 100%], pause: 10m}\n${secrets}`)
  const stateFolder = join(made.root, '.edgewise', 'state')
  const note = (path: string, text: string) => {
    const ours = path.startsWith(stateFolder) ? relative(stateFolder, path) : path.slice(1)
    written.push([ours.replace(/\.json\.test-\d+\.tmp$/, '.json'), text])
  }
  const disk = checkWrites(note)
  made.disk = {
    ...disk,
    append: (path, text, fence) => {
      note(path, text)
      return disk.append(path, text, fence)
    },
  }
  made.env = { ...made.env, SIGNING_KEY: 'a-key-of-the-tests' }
  enterPlace(made)
})

const domains = ['a', 'b', 'c'].map((name) => `${name}.example.com`)

function declareTimeouts(seconds: number): void {
  for (const domain of domains) place.manifest(domain, { timeout: { time: seconds } })
}

async function expectExit(code: number, ...args: string[]): Promise<void> {
  const ran = await place.cli(...args)
  expect([args, ran.code, ran.err]).toEqual([args, code, expect.anything()])
}

it('every file that any command writes fits its schema', async () => {
  declareTimeouts(60)
  place.manifest(domains[0] ?? '', { timeout: { time: 60 }, visit_timestamp: signed })
  await expectExit(0, 'apply', '--yes')
  declareTimeouts(61)
  await setFaults(emulator, { kind: 'reset-after' })
  await expectExit(3, 'apply', '--yes', '--no-waves')
  await setFaults(emulator, { kind: 'refuse', domain: domains[1] ?? '' })
  await expectExit(3, 'apply', '--yes', '--no-waves')
  await setFaults(emulator, { kind: 'rewrite' })
  await expectExit(0, 'apply', '--yes', '--no-waves')
  await setFaults(emulator)
  declareTimeouts(62)
  const stop = new AbortController()
  place.signal = stop.signal
  runInPause(async () => stop.abort())
  await expectExit(3, 'apply', '--yes')
  place.signal = new AbortController().signal
  await expectExit(0, 'rollout', 'abort', place.loadRollouts()[0]?.id ?? '')
  await expectExit(0, 'rollback', '--yes')
  declareTimeouts(63)
  await expectExit(0, 'plan', '--out', 'plan.json')
  expect(
    findSchemaFaults('plan', JSON.parse(readFileSync(join(place.root, 'plan.json'), 'utf8'))),
  ).toEqual([])
  await expectExit(0, 'apply', 'plan.json')
  await expectExit(0, 'stats', '--refresh')
  place.write('held.json', JSON.stringify({ [domains[0] ?? '']: { timeout: { time: '5' } } }))
  await expectExit(0, 'import', 'held.json', '--replace')
  await expectExit(0, 'state', 'forget', domains[2] ?? '', '--yes')
  await expectExit(0, 'state', 'prune', '--keep', '0d', '--yes')

  declareTimeouts(64)
  await setFaults(emulator, { kind: 'reset-after' })
  // While the apply waits for another attempt.
  time.onSleep = async () => {
    delete time.onSleep
    await expectExit(0, 'state', 'unlock', '--force', '--yes')
  }
  await expectExit(3, 'apply', '--yes', '--no-waves')
  await setFaults(emulator)
  await expectExit(0, 'apply', '--yes', '--no-waves')
  await expectExit(0, 'plan', '--detailed-exitcode')
  const [from = ''] = domains
  const manifest = place.read(`domains/${from}.yaml`)
  place.write(`domains/${from}.yaml`, manifest.replace(from, 'z.example.com'))
  const moved = `moved: [{from: ${from}, to: z.example.com}]\n`
  place.write('edgewise.yaml', place.read('edgewise.yaml') + moved)
  await expectExit(0, 'apply', '--yes')
  await expectExit(0, 'rollout', 'stop', '--all', '--reason', 'Why')
  await expectExit(0, 'rollout', 'resume', '--all')

  const seen = new Set(['plan'])
  for (const [path, text] of written) {
    // The text of a lock that was released, or a new log.
    if (text === '') continue
    const [, kind] = kinds.find(([pattern]) => pattern.test(path)) ?? []
    expect([path, kind]).toEqual([path, expect.any(String)])
    expect([path, findSchemaFaults(kind ?? '', parseJson(text))]).toEqual([path, []])
    seen.add(kind ?? '')
  }
  // Only a clone of a repository has outcomes without a commit.
  expect([...seen, 'outcomes'].toSorted()).toEqual(fileKinds.toSorted())
  const all = written.map(([, text]) => text).join('')
  for (const word of [
    'in-doubt',
    '"returned"',
    '"templates"',
    '"import"',
    'incomplete',
    'unfinished',
  ])
    expect([word, all.includes(word)]).toEqual([word, true])
})
