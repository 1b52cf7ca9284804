import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/sequencer.ts'
import { findTests, shared } from './vitest.config.ts'

/**
 * What npm test tries less often, in full, and what takes long in itself: the tests with the tag
 * `often`, and the files with it in their first line.
 */
export default defineConfig({
  test: {
    ...shared,
    // Many files wait for processes, pauses and terms most of the time: others run then.
    maxWorkers: 2 * availableParallelism(),
    sequence: { sequencer: LongestFirst },
    include: findTests(/\bit(Often|Long)\b|tags: 'often'|^\/\/ @module-tag often$/m),
    env: { EDGEWISE_TEST_RUNS: process.env['EDGEWISE_TEST_RUNS'] ?? '1' },
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
})
