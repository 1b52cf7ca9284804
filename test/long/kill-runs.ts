import type { Fault } from '../../src/emulator/entities/fault.ts'
import { isSameJson, type Json } from '../../src/core/model/json.ts'
import type { DatabaseConfig } from '../../src/core/model/config.ts'
import { RealRuns, type Ended } from './real-runs.ts'

const domains = Array.from({ length: 6 }, (_, i) => `d${i}.example.com`)

/** Line of a workspace file for three waves. */
export const waves = 'rollout: {waves: [1, 50%, 100%], pause: 1s}'

/** Results of a series of runs. */
export interface KillCounts {
  runs: number
  /** Runs killed before the apply had ended. */
  killed: number
  /** Killed runs with at least one, but not every write answered. */
  midway: number
  /** Runs that left in-doubt items. */
  doubted: number
}

/**
 * Kills applies at random moments, each followed by one undisturbed apply. Expects that this apply
 * is done, that state and service match the manifests, and that a plan is empty.
 *
 * @param more lines of the workspace file
 * @param database has the state; absent: git
 * @throws Error with the run and the finding
 */
export async function killRuns(
  runs: number,
  random: () => number,
  report: (line: string) => void,
  more = '',
  database?: DatabaseConfig,
): Promise<KillCounts> {
  const fault: Fault = { kind: 'delay', ms: 60, probability: 0.5 }
  const real = await RealRuns.start(['--calls-per-minute', '0', fault], database)
  const counts: KillCounts = { runs: 0, killed: 0, midway: 0, doubted: 0 }
  try {
    real.workspace(`limits: {callsPerMinute: 10000, domainsPerWrite: 3}\n${more}`)
    // The first apply sets everything; the second is like the killed ones, and measures their
    // duration.
    let usualMs = 0
    for (const round of [0, 1]) {
      for (const [i, domain] of domains.entries())
        real.manifest(domain, createConfig(round, round * (i % 4)))
      const whole = await real.run(['apply', '--yes', '--allow', 'extend', '--quiet'])
      expectDone(whole, 'an apply before')
      usualMs = whole.ms
    }
    for (let run = 1; run <= runs; run++) {
      const desired = new Map(
        domains.map((domain) => [domain, createConfig(run + 1, Math.floor(random() * 4))]),
      )
      for (const [domain, config] of desired) real.manifest(domain, config)
      const before = (await real.look<unknown[]>('calls')).length
      const cut = await real.run(['apply', '--yes', '--allow', 'extend'], random() * usualMs * 1.1)
      const sent = (await real.look<unknown[]>('calls')).length - before
      if (cut.signal === 'SIGKILL') counts.killed++
      if (cut.signal === 'SIGKILL' && sent > 0) counts.midway++
      const next = await real.run(['apply', '--yes', '--allow', 'extend', '--lock-timeout', '120'])
      expectDone(next, `run ${run}: the undisturbed apply`)
      if (next.err.includes('in-doubt')) counts.doubted++
      await expectEqual(real, desired, run)
      const plan = await real.run(['plan', '--detailed-exitcode'])
      if (plan.code !== 0)
        throw new Error(
          `run ${run}: expected a plan after it to be empty, got exit code ${plan.code}\n` +
            `${plan.out}${plan.err}`,
        )
      counts.runs++
      if (run % 10 === 0)
        report(
          `${run} of ${runs} runs: ${counts.killed} killed, ` +
            `${counts.midway} of them after a call, ` +
            `${counts.doubted} left in-doubt items`,
        )
    }
    return counts
  } finally {
    real.end()
  }
}

function createConfig(run: number, choice: number): Record<string, Json> {
  return {
    timeout: { time: String(5 + ((run * 4 + choice) % 290)) },
    extend: { squid: `run ${run}, ${choice}` },
    ...(choice % 2 === 0
      ? { ip_black_list: { list: [`192.0.2.${run % 250}`] } }
      : { ip_white_list: { list: [`192.0.2.${run % 250}`] } }),
  }
}

async function expectEqual(
  real: RealRuns,
  desired: Map<string, Record<string, Json>>,
  run: number,
): Promise<void> {
  const { domains: actual } = await real.look<{ domains: Record<string, Record<string, Json>> }>(
    'state',
  )
  const recorded = await real.loadRecorded()
  for (const [domain, config] of desired) {
    const recordedItems = recorded.get(domain)
    for (const item of Object.keys(config)) {
      const entry = recordedItems?.get(item)
      if (
        entry?.status !== 'confirmed' ||
        !isSameJson(entry.candidates[0], actual[domain]?.[item])
      ) {
        throw new Error(
          `run ${run}: ${item} of ${domain} is ${JSON.stringify(actual[domain]?.[item])} ` +
            `at the service, ${JSON.stringify(entry)} in state`,
        )
      }
    }
    if (recordedItems?.size !== Object.keys(config).length) {
      throw new Error(
        `run ${run}: expected the state of ${domain} to have ${Object.keys(config).join(', ')}, ` +
          `got ${[...(recordedItems?.keys() ?? [])].join(', ')}`,
      )
    }
  }
}

function expectDone({ code, signal, out, err }: Ended, what: string): void {
  if (code !== 0)
    throw new Error(`${what}: expected exit code 0, got ${code ?? signal}\n${out}${err}`)
}
