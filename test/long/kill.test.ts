// @module-tag often
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createWorld } from '../emulator/world.ts'
import { findProgram } from '../program.ts'

it('the emulator, killed at any moment, restarts with a whole file or the one before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-kill-'))
  const dataFile = join(folder, 'emulator.json')
  /** Values that each domain may have: those that were sent. */
  const sent = new Map<string, Set<string>>()
  let proven = 0
  try {
    for (let round = 0; round < 12; round++) {
      const answered = new Map<string, string>()
      const args = [
        ...findProgram(),
        'emulator',
        '--quiet',
        '--calls-per-minute',
        '0',
        '--data',
        dataFile,
      ]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const url = await new Promise<string>((resolve) =>
        child.stdout.once('data', (text) => resolve(/http:\S+/.exec(String(text))?.[0] ?? '')),
      )
      const gone = new Promise((resolve) => child.once('exit', resolve))
      const writers = [0, 1, 2, 3].map(async (writer) => {
        for (let n = 5; n < 300; n++) {
          const domain = `d${writer}-${n % 7}.example.com`
          const time = 5 + ((round * 20 + n) % 290)
          const body = JSON.stringify({
            token: 'x',
            domains: domain,
            config: { timeout: { time: String(time) }, extend: { squid: 'x'.repeat(9000) } },
          })
          const headers = { 'content-type': 'application/json' }
          sent.set(domain, (sent.get(domain) ?? new Set()).add(String(time)))
          // Until the answer is here, either value may be held.
          answered.delete(domain)
          const call = { method: 'POST', headers, body }
          const { status } = await fetch(`${url}/v2/domain/config`, call)
          if (status === 200) answered.set(domain, String(time))
        }
      })
      // Every other one may end by itself, and loses nothing.
      const isKilled = round % 2 === 0
      setTimeout(() => child.kill(isKilled ? 'SIGKILL' : 'SIGTERM'), 150 + 37 * round)
      await Promise.allSettled(writers)
      await gone
      const actual = (await createWorld({ dataFile }).state()) as Record<
        string,
        { timeout: { time: string } }
      >
      for (const [domain, { timeout }] of Object.entries(actual))
        expect(sent.get(domain)).toContain(timeout.time)
      for (const [domain, time] of isKilled ? [] : answered)
        expect([domain, actual[domain]?.timeout.time]).toEqual([domain, time])
      proven += Object.keys(actual).length
    }
    // On a busy machine an early kill may come before the first file.
    expect(proven).toBeGreaterThan(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
