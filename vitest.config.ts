import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { defineConfig } from 'vitest/config'
import { ProcessesFirst } from './test/sequencer.ts'

/** Lists the test files whose text matches. */
export const findTests = (pattern: RegExp): string[] =>
  globSync('test/**/*.test.ts').filter((file) => pattern.test(readFileSync(file, 'utf8')))

/** First line of a file that only the longer checks run. */
const onlyLonger = /^\/\/ @module-tag often$/m

export const shared = {
  setupFiles: ['test/setup.ts'],
  globalSetup: ['test/postgres-server.ts', 'test/temporary-folder.ts'],
  tags: [
    { name: 'often', description: 'tried more often, or at full size, in the longer checks' },
    { name: 'nightly', description: 'only in npm run check:long, which tries everything in full' },
  ],
  maxWorkers: '100%',
  experimental: { fsModuleCache: true },
  // The files of a worker share what they import; what a file sets, it sets back.
  isolate: false,
  // What tests allocate is short-lived; with the default of 16 MB, a tenth of the time goes to it.
  execArgv: ['--max-semi-space-size=64'],
}

export default defineConfig({
  test: {
    ...shared,
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', ...findTests(onlyLonger)],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // A sequencer of our own would replace the one that shuffles.
    ...(process.argv.some((arg) => arg.startsWith('--sequence.shuffle'))
      ? {}
      : { sequence: { sequencer: ProcessesFirst } }),
  },
})
