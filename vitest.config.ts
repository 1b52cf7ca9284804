import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { globSync } from 'tinyglobby'
import { defineConfig } from 'vitest/config'
import { LongestFirst, ProcessesFirst } from './test/sequencer.ts'

/** Lists the test files whose text matches. */
const findTests = (pattern: RegExp): string[] =>
  globSync('test/**/*.test.ts').filter((file) => pattern.test(readFileSync(file, 'utf8')))

/** Line at the top of a file that only the longer checks run. */
const onlyLonger = /^\/\/ @module-tag often$/m

/** Part of the repetitions of the longer checks; 0 for `npm test`. */
const part = Number(process.env['EDGEWISE_TEST_RUNS'] ?? '0')

const shared = {
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

const quick = {
  include: ['test/**/*.test.ts'],
  exclude: ['test/browser/**', ...findTests(onlyLonger)],
  testTimeout: 120_000,
  hookTimeout: 60_000,
  // A sequencer of our own would replace the one that shuffles.
  ...(process.argv.some((arg) => arg.startsWith('--sequence.shuffle'))
    ? {}
    : { sequence: { sequencer: ProcessesFirst } }),
}

/** Whether the files for the night are run: in full, or with EDGEWISE_TEST_NIGHTLY. */
const isNight = part >= 1 || process.env['EDGEWISE_TEST_NIGHTLY'] !== undefined

/**
 * What npm test tries less often, in full, and what takes long in itself: the tests with the tag
 * `often`, and the files with it at their top.
 */
const longer = {
  tagsFilter: ['often'],
  // Many files wait for processes, pauses and terms most of the time: another one runs then.
  maxWorkers: availableParallelism() + 1,
  sequence: { sequencer: LongestFirst },
  include: findTests(/\bit(Often|Long)\b|tags: 'often'|^\/\/ @module-tag often$/m),
  exclude: isNight ? [] : findTests(/^\/\/ @module-tag nightly$/m),
  testTimeout: 300_000,
  hookTimeout: 60_000,
}

// One file for both, so that they share the modules that the test runner keeps.
export default defineConfig({ test: { ...shared, ...(part > 0 ? longer : quick) } })
