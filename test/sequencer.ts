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
