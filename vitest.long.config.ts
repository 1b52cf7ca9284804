import { defineConfig } from 'vitest/config'

/** The properties again, many more times, and what takes long in itself. */
export default defineConfig({
  test: {
    include: [
      'test/laws/plans.test.ts',
      'test/apply/{crash,isolation}.test.ts',
      'test/service/call-budget.test.ts',
      'test/manifest/fuzz.test.ts',
      'test/steps/saved-plans.test.ts',
      'test/long/**/*.test.ts',
    ],
    env: { EDGEWISE_TEST_RUNS: '9' },
    testTimeout: 300_000,
    maxWorkers: '100%',
  },
})
