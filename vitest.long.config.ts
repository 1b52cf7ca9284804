import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/sequencer.ts'
import { findTests, shared } from './vitest.config.ts'

/** Part of the repetitions: `npm run check` makes some. */
const part = Number(process.env['EDGEWISE_TEST_RUNS'] ?? '1')

/** Whether the files for the night are run: in full, or with EDGEWISE_TEST_NIGHTLY. */
const isNight = part >= 1 || process.env['EDGEWISE_TEST_NIGHTLY'] !== undefined

/**
 * What npm test tries less often, in full, and what takes long in itself: the tests with the tag
 * `often`, and the files with it in their first line.
 */
export default defineConfig({
  test: {
    ...shared,
    // Many files wait for processes, pauses and terms most of the time: another one runs then.
    maxWorkers: availableParallelism() * 2 + 1,
    sequence: { sequencer: LongestFirst },
    include: findTests(/\bit(Often|Long)\b|tags: 'often'|^\/\/ @module-tag often$/m),
    exclude: isNight ? [] : findTests(/^\/\/ @module-tag nightly$/m),
    env: { EDGEWISE_TEST_RUNS: String(part) },
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
})
