// @module-tag often
// @module-tag nightly
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../src/emulator/entities/fault.ts'
import { connect, type Remote, type Transport } from '../remotes.ts'
import { Place, type ManualTime } from '../steps/cli.ts'
import { killInWave } from '../stories/killed-wave.ts'
import { landLate } from '../stories/late-call.ts'
import { domains, slowCalls, suspendApply } from '../stories/suspended-apply.ts'
import { expectHidden } from './hidden-logins.ts'
import { RealRuns, token } from './real-runs.ts'

const fast = ['--calls-per-minute', '0']

const faults: [string, (string | Fault)[], (real: RealRuns) => Promise<void>][] = [
  ['suspended, resumes after another apply', slowCalls, suspendWhileOtherApplies],
  ['killed, has a late call', fast, (real) => landLate(real, '{store: git}')],
  ['killed in a wave, leaves a batch in-doubt', slowCalls, killInWave],
]

// They wait most of the time.
describe.concurrent.each<Transport>(['http', 'ssh'])('over %s, an apply that is', (transport) => {
  it.each(faults)('%s', async (_fault, options, story) => {
    const real = await RealRuns.start(options)
    let remote: Remote | null = null
    try {
      remote = await connect(real.sandbox, transport)
      await story(real)
      await expectHidden(real.sandbox, remote, real.output)
    } finally {
      await remote?.close()
      real.end()
    }
  })
})

/** Resumes the apply while that of another clone has the lock; that one succeeds. */
function suspendWhileOtherApplies(real: RealRuns): Promise<void> {
  return suspendApply(real, async (resume) => {
    const root = join(real.sandbox.folder, 'other')
    const other = new Place(real.url, '', { root, state: 'state: {store: git}' })
    other.env = { ...real.sandbox.env, EDGEWISE_TOKEN: token }
    for (const [i, domain] of domains.entries())
      other.manifest(domain, { timeout: { time: String(10 + i) } })
    let resumed: Promise<void> | null = null
    const time: ManualTime = {
      now: Date.now(),
      onSleep: async (ms, name) => {
        // The lock would expire within a few of these waits: its heartbeat does not run.
        if (name === 'sharing') time.now -= ms
        if (name === 'revoked') await (resumed ??= resume())
      },
    }
    other.time = time
    const { code, err } = await other.cli('apply', '--yes')
    expect([code, err]).toEqual([0, expect.stringContaining('that process may still run')])
    expect(resumed).not.toBe(null)
    real.output += err
  })
}
