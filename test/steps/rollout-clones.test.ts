// @module-tag often
// @module-tag nightly
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GitSandbox } from '../state/git-sandbox.ts'
import { itLong } from '../runs.ts'
import { Place, fetchWrites } from './cli.ts'
import { deadOrigin, emulator, runInPause, setStageInTime, time } from './stage.ts'

const minute = 60_000
let sandbox: GitSandbox

setStageInTime()
beforeEach(async () => {
  sandbox = new GitSandbox()
  await sandbox.withRemote('remote.git', 'one', 'two')
})
afterEach(() => sandbox.remove())

function clone(
  folder: string,
  limits: { limits?: string } = {},
  rollout = '{waves: [1, 3, 100%], pause: 10m}',
): Place {
  const place = new Place(emulator.url, `rollout: ${rollout}\n`, {
    root: join(sandbox.folder, folder),
    state: 'state: {store: git}',
    ...limits,
  })
  place.env = { ...place.env, ...sandbox.env }
  place.time = time
  for (let i = 0; i < 6; i++) place.manifest(`d${i}.example.com`, { timeout: { time: 60 } })
  return place
}

async function sent(): Promise<number[]> {
  return (await fetchWrites(emulator)).map(({ domains }) => domains.length)
}

describe('a rollout with state on a remote', () => {
  it('is finished by another clone', async () => {
    const [one, two] = [clone('one'), clone('two')]
    const stop = new AbortController()
    one.signal = stop.signal
    runInPause(async () => stop.abort())
    expect((await one.cli('apply', '--yes')).code).toBe(3)
    expect(await two.cli('apply', '--yes')).toMatchObject({ code: 0 })
    expect(await sent()).toEqual([1, 2, 3])
    one.signal = new AbortController().signal
    expect((await one.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('is approved from another clone, and continued by a third command', async () => {
    const rollout = '{waves: [1, 100%], pause: 0s, approval: [2]}'
    const [one, two] = [clone('one', {}, rollout), clone('two', {}, rollout)]
    two.env['GITHUB_ACTOR'] = 'ada'
    expect((await one.cli('apply', '--yes')).code).toBe(0)
    expect(await sent()).toEqual([1])
    const [listed] = (await two.json('rollout', 'list'))['rollouts'] as { id: string }[]
    const approved = await two.cli('rollout', 'approve', listed?.id ?? '')
    expect([approved.code, approved.out]).toEqual([0, expect.stringContaining('Approved wave 2')])
    expect((await one.cli('rollout', 'approve', listed?.id ?? '')).out).toContain('by ada at ')
    expect((await one.cli('apply', '--yes')).code).toBe(0)
    expect(await sent()).toEqual([1, 5])
    expect((await two.json('rollout', 'list'))['rollouts']).toEqual([])
  })

  itLong('continues after another clone applied other domains between its waves', async () => {
    const [one, two] = [clone('one'), clone('two')]
    two.manifest('other.example.com', { timeout: { time: 60 } })
    const codes: number[] = []
    runInPause(
      async () => void codes.push((await two.cli('apply', '--yes', '--target', 'other.*')).code),
    )
    const { code, out, err } = await one.cli('apply', '--yes')
    expect([codes, code, out, err]).toEqual([[0], 0, out, err])
    expect(await sent()).toEqual([1, 1, 2, 3])
    expect((await two.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  itLong('is sent once by two concurrent clones', async () => {
    const [one, two] = [clone('one'), clone('two')]
    const codes: number[] = []
    runInPause(async () => void codes.push((await two.cli('apply', '--yes')).code))
    const { code, out, err } = await one.cli('apply', '--yes')
    expect([codes, code, out, err]).toEqual([
      [0],
      0,
      expect.stringContaining('Applied'),
      expect.stringContaining('Another process ended the rollout'),
    ])
    expect(await sent()).toEqual([1, 2, 3])
  })

  itLong(
    'respects the call rate together with calls of other clones between its waves',
    async () => {
      const limits = { limits: '{callsPerMinute: 3}' }
      const [one, two] = [clone('one', limits), clone('two', limits)]
      for (let i = 0; i < 3; i++)
        two.manifest(`other${i}.example.com`, { timeout: { time: 60 + i } })
      runInPause(
        async () => void (await two.cli('apply', '--yes', '--no-waves', '--target', 'other*')),
      )
      expect((await one.cli('apply', '--yes')).code).toBe(0)
      const times = (await fetchWrites(emulator)).map((call) => call.time)
      expect(times).toHaveLength(6)
      for (const [i, at] of times.entries())
        expect(at - (times[i - 3] ?? -Infinity)).toBeGreaterThanOrEqual(minute)
    },
  )

  itLong('waits for a remote that is unreachable for a while', async () => {
    const one = clone('one')
    let away = 0
    time.onSleep = async (_ms, wait) => {
      const paused = wait === 'rollout'
      if (paused && away === 0) renameSync(remote(), `${remote()}.away`)
      else if (away === 3) renameSync(`${remote()}.away`, remote())
      if (paused || away > 0) away++
      if (away > 3) delete time.onSleep
    }
    const { code, out, err } = await one.cli('apply', '--yes')
    expect([away, code, out, err]).toEqual([4, 0, out, err])
    expect(await sent()).toEqual([1, 2, 3])
  })

  itLong('stays open if the remote stays unreachable, with a message', async () => {
    const one = clone('one')
    runInPause(async () => refusePushes())
    const { code, out } = await one.cli('apply', '--yes')
    expect([code, out]).toEqual([
      3,
      expect.stringMatching(
        /2 not sent.*it reached wave 2 of 3, but the recorded state may still show wave 1 of 3;/s,
      ),
    ])
    const two = clone('two')
    expect(await two.json('rollout', 'list')).toMatchObject({ rollouts: [{ wave: 1 }] })
    rmSync(hook())
    expect((await two.cli('apply', '--yes')).code).toBe(0)
    expect(await sent()).toEqual([1, 2, 3])
  })

  itLong(
    "prints the reason and the command if the automatic rollback can't be recorded",
    async () => {
      const health = '{waves: [3, 100%], health: {onFailure: rollback}}'
      const one = clone('one', {}, health)
      expect((await one.cli('apply', '--yes', '--no-waves')).code).toBe(0)
      for (const origin of ['192.0.2.10', deadOrigin]) {
        for (let i = 0; i < 6; i++)
          one.manifest(`d${i}.example.com`, { origin: { default_master: origin } })
        if (origin !== deadOrigin)
          expect((await one.cli('apply', '--yes', '--no-waves')).code).toBe(0)
        time.now += 120 * minute
      }
      one.onStderr = (line) => {
        if (line.startsWith('worse')) refusePushes()
      }
      const { code, out } = await one.cli('apply', '--yes')
      expect([code, out]).toEqual([
        3,
        expect.stringMatching(
          /wave 1 of 2: 5xx rose .*could not be rolled back: .*"edgewise rollback \S+"/s,
        ),
      ])
      rmSync(hook())
      one.onStderr = null
      const { out: again } = await one.cli('apply', '--yes')
      expect(again).toContain('Rolled back')
    },
  )
})

const remote = () => join(sandbox.folder, 'remote.git')
const hook = () => join(remote(), 'hooks', 'pre-receive')

/** The lock can still be acquired and released. */
function refusePushes(): void {
  writeFileSync(
    hook(),
    '#!/bin/sh\nread a b ref\ncase "$ref" in *edgewise-state) exit 1;; esac\n',
    { mode: 0o755 },
  )
}
