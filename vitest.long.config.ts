import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { globSync } from 'tinyglobby'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/sequencer.ts'
import { shared } from './vitest.config.ts'

const often = globSync('test/**/*.test.ts').filter((file) =>
  /\bit(Often|Long)\b|tags: 'often'/.test(readFileSync(file, 'utf8')),
)

/**
 * What npm test tries less often, in full, and what takes long in itself: the tests with the tag
 * `often`.
 */
export default defineConfig({
  test: {
    ...shared,
    // Some files wait for killed processes and for terms: others use the processors then.
    maxWorkers: availableParallelism() + 3,
    sequence: { sequencer: LongestFirst },
    include: [...often, 'test/long/**/*.test.ts'],
    env: { EDGEWISE_TEST_RUNS: process.env['EDGEWISE_TEST_RUNS'] ?? '1' },
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
})
