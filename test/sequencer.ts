import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Runs the files that start processes first: starting a process takes longer the more memory a
 * worker has, and a worker's memory grows from file to file.
 */
export class ProcessesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is the sequencer's own method
    const sorted = await super.sort(files)
    const startsProcesses = (file: TestSpecification) =>
      /git-sandbox|two-clones|child_process/.test(readFileSync(file.moduleId, 'utf8'))
    return [...sorted.filter(startsProcesses), ...sorted.filter((file) => !startsProcesses(file))]
  }
}

/**
 * The files of the longer checks that take longest: those that start thousands of processes, while
 * workers are small, then those that mostly wait, then by CPU time.
 */
const longest = [
  'state/git-store',
  'steps/git',
  'steps/canaries',
  'long/serve-states',
  'long/outages',
  'long/replica-drift',
  'long/replicas',
  'long/kill-apply',
  'long/stories',
  'long/handed',
  'long/decisions',
  'long/serve',
  'long/rollback-killed',
  'long/remotes',
  'health/gusts',
  'fuzz/hostile-keys',
  'steps/rollout-crash',
  'long/mutations',
  'manifest/fuzz',
  'plan/fleets',
  'fuzz/fuzz',
  'long/random-requests',
]
/** Uses all processors by itself, so that none is idle in the end. */
const last = 'long/simulation'

/** Runs the longest files first and side by side, then as {@link ProcessesFirst}. */
export class LongestFirst extends ProcessesFirst {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is the sequencer's own method
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
  if (moduleId.endsWith(`/${last}.test.ts`)) return longest.length + 1
  return index === -1 ? longest.length : index
}
