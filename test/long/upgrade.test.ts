// @module-tag often

import { cpSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Replica } from '../server/replica.ts'
import {
  commit,
  configure,
  enterServed,
  listSent,
  setServeStage,
  startBuild,
  until,
} from '../server/serve-stage.ts'
import { fetchConfigs } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'

setStage()
setServeStage()

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = 'dist/cli/main.js'

/** Copies the built program with another version of its workflows; one file has it. */
function buildOther(): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-other-'))
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true })
  for (const each of ['node_modules', 'package.json'])
    symlinkSync(join(root, each), join(folder, each))
  const version = /(?<=\bworkflowVersion=)"\d+"/
  const chunks = join(folder, 'dist/chunks')
  const found = readdirSync(chunks)
    .map((name) => [join(chunks, name), readFileSync(join(chunks, name), 'utf8')] as const)
    .filter(([, text]) => version.test(text))
  expect(found).toHaveLength(1)
  for (const [file, text] of found) writeFileSync(file, text.replace(version, '"other"'))
  return join(folder, program)
}

/**
 * Waits until a wave was sent, and the workflow of the rollout sleeps in the pause after it.
 *
 * @param steps steps that report the pause: the apply that began the rollout is one
 */
async function waitForPause(replica: Replica, wave: number, steps: number): Promise<void> {
  const isWaiting = (line: Replica['log'][number]) =>
    line.message === 'wave.waiting' && line['wave'] === wave
  await until(async () => replica.log.filter(isWaiting).length >= steps)
}

it('an upgrade in a pause of a rollout, and the return from it, send no wave twice', async () => {
  enterServed('rollout: {waves: [1, 3, 100%], pause: 7s}\n')
  configure(6, 60)
  commit()
  const old = await startBuild(join(root, program))
  await old.waitFor('leads')
  const other = await startBuild(buildOther())
  await waitForPause(old, 1, 2)
  await old.end('SIGKILL')
  // The rollout is the same one: what the other version began in the database is begun anew.
  await other.waitFor('took over')
  await other.waitFor('replaces workflows of another version')
  await waitForPause(other, 2, 1)
  expect(await listSent()).toEqual([1, 2])
  expect(await other.end('SIGTERM')).toBe(143)
  const again = await startBuild(join(root, program))
  await again.waitFor('replaces workflows of another version')
  const listRollouts = async () => (await place.json('rollout', 'list'))['rollouts']
  await until(async () => JSON.stringify(await listRollouts()) === '[]')
  expect(await listSent()).toEqual([1, 2, 3])
  expect(Object.values(await fetchConfigs(emulator))).toEqual(
    Array.from({ length: 6 }, () => ({ timeout: { time: '60' } })),
  )
  expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
})
