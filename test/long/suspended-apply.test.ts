// @module-tag often
// @module-tag nightly
import { it } from 'vitest'
import { slowCalls, suspendApply } from '../stories/suspended-apply.ts'
import { RealRuns } from './real-runs.ts'

it('an apply that loses its lock while it is suspended sends nothing more', async () => {
  const real = await RealRuns.start(slowCalls)
  try {
    await suspendApply(real)
  } finally {
    real.end()
  }
})
