import { defineConfig } from 'vitest/config'

/** The tag of tests that the longer checks run again, more often. */
export const tags = [{ name: 'often', description: 'takes its number of tries from test/runs.ts' }]

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/long/**'],
    setupFiles: ['test/setup.ts'],
    tags,
    testTimeout: 60_000,
    maxWorkers: '100%',
    // The files of a worker share what they import; what a file sets, it sets back.
    isolate: false,
  },
})
