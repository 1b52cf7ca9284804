// @module-tag often
// @module-tag nightly
import { expect, it } from 'vitest'
import { seed } from '../runs.ts'
import { runChaos } from './chaos/chaos.ts'

it('applies with state in PostgreSQL survive kills of all processes', async () => {
  const tally = await runChaos(
    {
      seed: String(seed),
      accounts: 2,
      workspaces: 2,
      targeted: 1,
      domains: 8,
      domainsPerWrite: 2,
      rounds: 2,
      suspensions: 0,
      perMinute: 60,
      burst: { calls: 6, seconds: 2 },
      disturbances: {
        seconds: 4,
        pauseMs: [300, 1500],
        downMs: [100, 1000],
        crash: 0.2,
        cut: 0.3,
      },
      setBack: { restoreAt: 0, calmSeconds: 2, forgetful: 0 },
      lostAnswers: 0.02,
      maxSeconds: 240,
    },
    (line) => console.log(line),
  )
  console.log(tally.describe())
  expect(tally.faults).toEqual([])
  expect(tally).toMatchObject({ contested: 1, restored: 1 })
  expect(tally.killed * tally.cut * (tally.crashed + tally.shutDown)).toBeGreaterThan(0)
})
