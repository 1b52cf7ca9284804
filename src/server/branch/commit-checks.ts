import type { Clock } from '../../core/model/time/clock.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Rules } from '../../operations/people/decide.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import { createSerialQueue } from '../../state/store/serial-queue.ts'

/** How a process of its own has loaded and planned a commit. */
export type CheckEnd =
  /** What it took too much of, such as "more than 60 seconds". */
  | { excess: string }
  /** Why it could not load the commit, or be run. */
  | { fault: EdgewiseError }
  /**
   * Who may decide by the commit; `isPartial`: whether it ended before it has planned, because
   * something was away.
   */
  | { rules: Rules; isPartial: boolean }

/** Commits whose check is remembered. */
const maxChecked = 100
/** Time after which a refused commit is checked again, ms: the machine may have been busy. */
const refusedMs = 30 * 60_000

export type CommitChecks = ReturnType<typeof createCommitChecks>

/**
 * Creates the checks that a commit can be loaded and planned within limits, before this process
 * does so.
 *
 * @param check loads and plans a workspace in a process of its own
 */
export function createCommitChecks(
  check: (root: string, outside: Outside) => Promise<CheckEnd>,
  clock: Pick<Clock, 'monotonic'>,
) {
  const oneByOne = createSerialQueue()
  const checked = new Map<string, { end: Exclude<CheckEnd, { excess: string }>; untilMs: number }>()
  const find = (root: string) => {
    const known = checked.get(root)
    return known !== undefined && clock.monotonic() < known.untilMs ? known.end : null
  }
  const run = async (root: string, commit: string, outside: Outside) => {
    const ended = await check(root, outside)
    const end = 'excess' in ended ? { fault: createFault(commit, ended.excess) } : ended
    const isFinal = 'fault' in end ? isAboutCommit(end.fault) : !end.isPartial
    if (!isFinal) return end
    checked.delete(root)
    checked.set(root, { end, untilMs: 'fault' in end ? clock.monotonic() + refusedMs : Infinity })
    for (const oldest of [...checked.keys()].slice(0, -maxChecked)) checked.delete(oldest)
    return end
  }
  return {
    /**
     * Checks a commit, unless it was checked before; returns who may decide by it.
     *
     * @param root folder of the workspace in its checkout
     * @throws EdgewiseError `invalid` if it exceeds the limits, and why it could not be loaded
     */
    check: (root: string, commit: string, outside: Outside): Promise<Rules> =>
      oneByOne(async () => {
        const end = find(root) ?? (await run(root, commit, outside))
        if ('fault' in end) throw end.fault
        return end.rules
      }),
    /** Returns why the commit of a folder was refused; null if it was not. */
    findFault: (root: string): EdgewiseError | null => {
      const end = find(root)
      return end !== null && 'fault' in end ? end.fault : null
    },
  }
}

/** Tests whether an error is about what a commit has in it. */
export function isAboutCommit(error: unknown): error is EdgewiseError {
  return error instanceof EdgewiseError && ['invalid', 'not-a-workspace'].includes(error.code)
}

function createFault(commit: string, excess: string): EdgewiseError {
  return new EdgewiseError(
    'invalid',
    `loading and planning commit ${commit.slice(0, 12)} takes ${excess}`,
    'Nothing of this commit is applied. Run "edgewise plan" in a clone of it: split or correct ' +
      'the files that take so long. If it has to be so large, run "edgewise apply" there.',
  )
}
