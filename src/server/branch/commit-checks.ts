import type { Clock } from '../../core/model/time/clock.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Outside } from '../../operations/runtime/outside.ts'
import { createSerialQueue } from '../../state/store/serial-queue.ts'

/** How a process of its own has loaded and planned a commit. */
export interface CheckEnd {
  /** What it took too much of, such as "more than 60 seconds"; null if it ended within limits. */
  excess: string | null
  /** Whether it ended before it has planned, because something was away: another one may not. */
  isPartial: boolean
}

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
  const checked = new Map<string, { fault: EdgewiseError | null; untilMs: number }>()
  const find = (root: string): { fault: EdgewiseError | null } | null => {
    const known = checked.get(root)
    return known !== undefined && clock.monotonic() < known.untilMs ? known : null
  }
  const run = async (root: string, commit: string, outside: Outside) => {
    const { excess, isPartial } = await check(root, outside)
    const fault = excess === null ? null : createFault(commit, excess)
    if (isPartial) return { fault }
    checked.delete(root)
    const untilMs = fault === null ? Infinity : clock.monotonic() + refusedMs
    checked.set(root, { fault, untilMs })
    for (const oldest of [...checked.keys()].slice(0, -maxChecked)) checked.delete(oldest)
    return { fault }
  }
  return {
    /**
     * Checks a commit, unless it was checked before.
     *
     * @param root folder of the workspace in its checkout
     * @throws EdgewiseError `invalid` if it exceeds the limits
     */
    refuseHeavy: (root: string, commit: string, outside: Outside): Promise<void> =>
      oneByOne(async () => {
        const { fault } = find(root) ?? (await run(root, commit, outside))
        if (fault !== null) throw fault
      }),
    /** Returns why the commit of a folder was refused; null if it was not. */
    findFault: (root: string): EdgewiseError | null => find(root)?.fault ?? null,
  }
}

function createFault(commit: string, excess: string): EdgewiseError {
  return new EdgewiseError(
    'invalid',
    `loading and planning commit ${commit.slice(0, 12)} takes ${excess}`,
    'Nothing of this commit is applied. Run "edgewise plan" in a clone of it: split or correct ' +
      'the files that take so long. If it has to be so large, run "edgewise apply" there.',
  )
}
