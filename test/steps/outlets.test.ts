// @module-tag often
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, it } from 'vitest'
import { setFaults, token } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const domains = Array.from({ length: 6 }, (_, i) => `d${i}.example.com`)
setStage()
beforeEach(async () => {
  await setFaults(emulator, { kind: 'delay', ms: 60 })
  for (const [i, domain] of domains.entries())
    place.manifest(domain, { timeout: { time: String(20 + i) } })
})

function start(args: string[], out: 'pipe' | number, err: 'pipe' | number): ChildProcess {
  const env = { ...process.env, EDGEWISE_TOKEN: token, NO_COLOR: '1' }
  return spawn(process.execPath, [program, ...args], {
    cwd: place.root,
    env,
    stdio: ['ignore', out, err],
  })
}

function waitForExit(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve))
}

async function refuseDoubt(): Promise<void> {
  const { domains: recorded } = await place.json('state', 'list')
  expect(recorded).toHaveLength(domains.length)
  expect(recorded).toEqual(
    expect.not.arrayContaining([expect.not.objectContaining({ inDoubt: 0 })]),
  )
  expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
}

it.each(['stdout', 'stderr'] as const)(
  'an apply completes and reports its outcome after its reader closed %s',
  async (stream) => {
    const child = start(
      ['apply', '--yes', ...(stream === 'stdout' ? ['--json'] : [])],
      'pipe',
      'pipe',
    )
    const ended = waitForExit(child)
    child[stream]?.once('data', () => child[stream]?.destroy())
    child[stream === 'stdout' ? 'stderr' : 'stdout']?.resume()
    expect(await ended).toBe(0)
    await refuseDoubt()
  },
)

it.runIf(existsSync('/dev/full'))(
  'a full output device is exit 1, and does not abort an apply',
  async () => {
    const full = openSync('/dev/full', 'w')
    const child = start(['apply', '--yes', '--json'], full, 'pipe')
    let stderr = ''
    child.stderr?.on('data', (text) => (stderr += String(text)))
    expect(await waitForExit(child)).toBe(1)
    expect(stderr).toContain('ENOSPC')
    expect(stderr).not.toContain('internal error')
    await refuseDoubt()
    expect(await waitForExit(start(['plan', '--json'], full, 'pipe'))).toBe(1)
    // A failing progress stream does not affect the plan.
    expect(await waitForExit(start(['plan', '--json'], 'pipe', full))).toBe(0)
  },
)
