// @module-tag often
// @module-tag nightly

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Call } from '../../src/emulator/entities/call.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import type { Rollout } from '../../src/core/model/rollout.ts'
import {
  commit,
  enterServed,
  getDatabase,
  runSql,
  setServeStage,
  start,
  until,
} from '../server/serve-stage.ts'
import { fetchConfigs, fetchWrites, setFaults, type Place } from '../steps/cli.ts'
import { deadOrigin, emulator, enterPlace, place, setStageInTime, time } from '../steps/stage.ts'

setStageInTime()
setServeStage()

const hour = 3_600_000
const places: Place[] = []
let ticking: ReturnType<typeof setInterval> | undefined

afterEach(() => {
  clearInterval(ticking)
  for (const each of places.splice(0)) each.remove()
})

const eight = [0, 1, 2, 3, 4, 5, 6, 7]
/** Those of the first wave. */
const six = eight.slice(0, 6)
/** Domain of a workspace. */
const name = (id: string, i: number) => `${id}${i}.example.com`

/** Enters a workspace with domains that were configured hours ago. */
async function begin(id: string): Promise<Place> {
  const health = '{onFailure: rollback, grain: hour, window: 1h}'
  enterServed(`id: ${id}\nrollout: {waves: [6, 100%], pause: 1m, health: ${health}}\n`)
  places.push(place)
  const config = place
    .read('edgewise.yaml')
    // Workspaces with equal shares of the calls would wait for each other.
    .replace('service:\n', `service:\n  account: ${id}\n  timeoutSeconds: 10\n  settleSeconds: 1\n`)
  place.write('edgewise.yaml', config)
  // Each origin needs a write of its own to be rolled back.
  for (const i of eight)
    place.manifest(name(id, i), { origin: { default_master: `192.0.2.${10 + i}` } })
  time.now = Date.now() - 7 * hour
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  return place
}

/**
 * Sends the first wave of a rollout, six domains whose origins it breaks, hours ago. The tip of
 * the branch can't be applied then: only the workflow of the rollout judges the wave.
 */
async function breakWave(workspace: Place, id: string): Promise<void> {
  enterPlace(workspace)
  for (const i of eight) place.manifest(name(id, i), { origin: { default_master: deadOrigin } })
  commit()
  time.now = Date.now() - 4 * hour
  const { out } = await place.cli('apply', '--yes', '--no-wait')
  expect(out).toContain('writes: 1 confirmed')
  place.write('domains/bad.yaml', 'domain: bad.example.com\nconfig: {tim: 1}\n')
  commit()
}

/** Lets the service's time pass as in reality. */
function tick(): void {
  const set = () => {
    time.now = Date.now()
  }
  set()
  ticking = setInterval(set, 20)
}

/** Finds the domains of the first wave whose origin is as before the rollout. */
async function findRestored(id: string): Promise<string[]> {
  const configs = await fetchConfigs(emulator)
  const isRestored = (i: number) =>
    JSON.stringify(configs[name(id, i)]).includes(`"192.0.2.${10 + i}"`)
  return six.filter(isRestored).map((i) => name(id, i))
}

const listWrites = async (id: string): Promise<Call[]> =>
  (await fetchWrites(emulator)).filter(({ domains }) => domains[0]?.startsWith(id))

async function loadRollout(id: string): Promise<Rollout | undefined> {
  const rows = (await runSql(
    `select text from ${getDatabase().schema}.files
     where path like '%/rollouts/%' and text like '%${name(id, 0)}%'`,
  )) as { text: string }[]
  return rows.map(({ text }) => JSON.parse(text) as Rollout)[0]
}

const isRolledBack = async (id: string) => (await loadRollout(id))?.state === 'rolled-back'

/** Lists the domains of the current workspace whose rollback is recorded. */
async function listRecorded(): Promise<Json[]> {
  const domains = (await place.json('state', 'list'))['domains'] as JsonObject[]
  const isRecorded = ({ inDoubt, confirmedAt }: JsonObject) =>
    inDoubt === 0 && Date.parse(String(confirmedAt)) > Date.now() - hour
  return domains.filter(isRecorded).map(({ domain = null }) => domain)
}

/** Describes what is left of a rollout: without times, ids, and the name of its workspace. */
async function describeEnd(workspace: Place, id: string): Promise<unknown> {
  const { state, onHold, waves, applies } = (await loadRollout(id)) as Rollout
  enterPlace(workspace)
  rmSync(join(place.root, 'domains/bad.yaml'))
  const items = await place.json('state', 'list')
  const { changes, summary, warnings } = await place.json('plan')
  const configs = Object.entries(await fetchConfigs(emulator)).filter(([each]) =>
    each.startsWith(id),
  )
  const text = JSON.stringify([
    { state, onHold, waves: waves.map(({ domains, passed }) => [domains, passed]) },
    { applies: applies.length, items, changes, summary, warnings, configs },
  ])
  const clean = text
    .replaceAll(/"confirmedAt":"[^"]*"/g, '"confirmedAt":""')
    .replaceAll(/\d{8}T\d{6}Z-\w+|since \S+ \S+ UTC|on top of \w+/g, '…')
    .replaceAll(/: 5xx rose on 6 of 6 domains: [^"]*?(?=\. Revert|")/g, '…')
    .replaceAll(new RegExp(`\\b${id}(?=\\d\\.example)`, 'g'), '')
  return JSON.parse(clean)
}

it('a rollback whose leader was killed in it ends as one whose leader lives', async () => {
  const usual = await begin('usual')
  const killed = await begin('killed')
  await breakWave(usual, 'usual')
  await breakWave(killed, 'killed')
  tick()
  // Up to four calls are in flight: one of six writes is confirmed, and another one not sent.
  const late = { kind: 'delay', ms: 8000, item: 'origin' }
  await setFaults(emulator, ...six.slice(1).map((i) => ({ ...late, domain: name('killed', i) })))
  enterPlace(usual)
  const other = await start()
  enterPlace(killed)
  const both = await Promise.all([start(), start()])
  const one = await Promise.race(both.map((each) => each.waitFor('term begun').then(() => each)))
  const [two] = both.filter((each) => each !== one)
  await one.waitFor('rollout.taking-back')
  await until(async () => (await listRecorded()).length > 0)
  await one.end('SIGKILL')
  const recorded = await listRecorded()
  expect(await findRestored('killed')).toEqual([name('killed', 0)])
  expect((await loadRollout('killed'))?.state).toBe('rolling-back')
  // It began in a step of the workflow.
  expect(one.err).not.toContain('rollback-unfinished')

  await setFaults(emulator)
  await two?.waitFor('locks taken over')
  await until(() => isRolledBack('killed'))
  expect(await two?.waitFor('apply.finished')).toMatchObject({
    takenBack: true,
    stopped: expect.stringMatching(/5xx rose on 6 of 6 domains: .*; rolled back$/),
  })
  await until(() => isRolledBack('usual'))
  await other.waitFor('apply.finished')
  expect(await describeEnd(killed, 'killed')).toEqual(await describeEnd(usual, 'usual'))
  expect(await findRestored('killed')).toHaveLength(6)
  // After eight first values and the wave: what was not recorded is sent, perhaps once more.
  const sent = (await listWrites('killed')).slice(9).map(({ domains }) => domains.join())
  const counts = six.map((i) => sent.filter((each) => each === name('killed', i)).length)
  expect(sent).toHaveLength(counts.reduce((sum, count) => sum + count))
  expect([recorded, counts[0]]).toEqual([[name('killed', 0)], 1])
  expect(counts.every((count) => count === 1 || count === 2)).toBe(true)
  expect(await listWrites('usual')).toHaveLength(15)
})
