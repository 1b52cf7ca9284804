// @module-tag often
// @module-tag nightly
import { it } from 'vitest'
import { landLate } from '../stories/late-call.ts'
import { RealRuns } from './real-runs.ts'

const stores = ['{store: git}', '{store: dir, path: .edgewise/state}']

it.each(stores)('a late call of a killed apply does not outlive a revert: %s', async (store) => {
  const real = await RealRuns.start(['--calls-per-minute', '0'])
  try {
    await landLate(real, store)
  } finally {
    real.end()
  }
})
