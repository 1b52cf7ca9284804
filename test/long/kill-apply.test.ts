// @module-tag often
import { expect, it } from 'vitest'
import { Chance } from '../simulation/chance.ts'
import { full, seed } from '../runs.ts'
import { TestSchema } from '../state/test-schema.ts'
import { killRuns, waves } from './kill-runs.ts'
import { RealRuns } from './real-runs.ts'

const runs = Number(process.env['EDGEWISE_KILL_RUNS'] ?? (full ? 14 : 5))
const fewer = full ? 5 : 3
const chance = new Chance(`kill ${seed}`)
const random = () => chance.draw()

it(
  'an apply killed at any moment is finished by the next one',
  { timeout: 1_200_000 },
  async () => {
    const counts = await killRuns(runs, random, (line) => console.log(line))
    console.log(
      `${counts.runs} runs: ${counts.killed} killed, ${counts.midway} of them after a call, ` +
        `${counts.doubted} left in-doubt items`,
    )
    expect(counts.runs).toBe(runs)
    expect(counts.killed).toBeGreaterThan(0)
  },
)

it(
  'an apply in waves killed at any moment is finished by the next one',
  { timeout: 600_000 },
  async () => {
    const counts = await killRuns(fewer, random, (line) => console.log(line), waves)
    expect(counts.runs).toBe(fewer)
  },
)

it(
  'an apply with state in PostgreSQL killed at any moment is finished by the next one',
  { timeout: 600_000 },
  async () => {
    const schema = await TestSchema.make()
    try {
      const database = schema.configure((url) => url.searchParams.delete('application_name'))
      const counts = await killRuns(fewer, random, (line) => console.log(line), '', database)
      expect(counts.runs).toBe(fewer)
    } finally {
      await schema.remove()
    }
  },
)

it('one of two concurrent applies is refused, or waits', async () => {
  const real = await RealRuns.start(['--calls-per-minute', '0', { kind: 'delay', ms: 400 }])
  try {
    real.workspace('limits: {callsPerMinute: 10000}')
    for (let i = 0; i < 8; i++)
      real.manifest(`d${i}.example.com`, { timeout: { time: String(10 + i) } })
    const refused = await Promise.all([
      real.run(['apply', '--yes', '--allow', 'extend']),
      real.run(['apply', '--yes']),
    ])
    expect(refused.map(({ code }) => code)).toSatisfy(
      (codes: number[]) => codes.includes(0) && codes.includes(1),
    )
    expect(refused.find(({ code }) => code === 1)?.err).toMatch(/error: the state is locked by/)
    for (let i = 0; i < 8; i++)
      real.manifest(`d${i}.example.com`, { timeout: { time: String(30 + i) } })
    const waited = await Promise.all([
      real.run(['apply', '--yes', '--allow', 'extend', '--lock-timeout', '60']),
      real.run(['apply', '--yes', '--allow', 'extend', '--lock-timeout', '60']),
    ])
    expect(waited.map(({ code }) => code)).toEqual([0, 0])
    // The waiting apply planned again and had nothing to do.
    expect(waited.filter(({ out }) => out.includes('No changes'))).toHaveLength(1)
  } finally {
    real.end()
  }
})
