import { readFileSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Runs the files that run git first: starting a process takes longer the more memory a worker has,
 * and a worker's memory grows from file to file.
 */
export class GitFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is the sequencer's own method
    const sorted = await super.sort(files)
    const runsGit = (file: TestSpecification) =>
      readFileSync(file.moduleId, 'utf8').includes('git-sandbox.ts')
    return [...sorted.filter(runsGit), ...sorted.filter((file) => !runsGit(file))]
  }
}
