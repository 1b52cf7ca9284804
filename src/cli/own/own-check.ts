import { join } from 'node:path'
import { type ErrorCode, throwDefect } from '../../core/model/edgewise-error.ts'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { isFile, observe } from '../../operations/observation/observe.ts'
import type { Rules } from '../../operations/people/decide.ts'
import { listRules } from '../../operations/people/owners.ts'
import { openState } from '../../operations/runtime/open-state.ts'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import type { CheckEnd } from '../../server/branch/commit-checks.ts'
import type { Io } from '../io.ts'
import { withFolder } from './own-page.ts'
import type { RunOwn } from './own-process.ts'
import { createOutput, saveOutput } from '../save-file.ts'

/** Largest file of rules, bytes. */
const maxRulesBytes = 16 * 1024 * 1024
/** Interval of looks whether another replica still checks a commit, and longest wait for it, ms. */
const [lookMs, maxWaitMs] = [500, 5 * 60_000]
/** Errors of a plan for which something that is not in the commit was away. */
const away: ErrorCode[] = ['unavailable', 'record-unreachable', 'record-moved', 'access']

/** Saves who may decide by a workspace, and loads what only a server reads of it. */
export async function saveRules(file: string, workspace: LoadedWorkspace, io: Io): Promise<void> {
  const { root, config, scrub } = workspace
  await saveOutput(createOutput(file, workspace, io), JSON.stringify(listRules(workspace)))
  const { observed } = config.serve.drift
  if (observed === null || !isFile(observed, root)) return
  await observe(observed, { ...io, cwd: root }, scrub).catch((error: unknown) => {
    // A drift check reports it.
    throwDefect(error)
  })
}

/** Does work of a check while no other replica does; after a long wait, whatever they do. */
export async function takeTurn<T>(
  workspace: LoadedWorkspace,
  io: Io,
  work: () => Promise<T>,
): Promise<T> {
  const { leadership } = await openState(workspace, io)
  let waitedMs = 0
  for (; leadership !== undefined && waitedMs < maxWaitMs; waitedMs += lookMs) {
    const end = await leadership.tryAlone(work)
    if (end !== null) return end()
    await io.clock.sleep(lookMs, io.signal)
  }
  return work()
}

/**
 * Plans a workspace in a process of its own, which takes no lock, writes no state and reaches no
 * service. Whoever loads the commit then does what was done within limits.
 *
 * @param root folder of the workspace
 */
export function checkCommit(
  run: RunOwn,
  root: string,
  outside: Pick<Outside, 'env' | 'signal'>,
): Promise<CheckEnd> {
  return withFolder(async (folder) => {
    const file = join(folder, 'rules.json')
    const words = ['-C', root, '--json', 'plan', '--rules', file]
    const { code, error, excess } = await run(words, outside)
    if (excess !== null) return { excess }
    if (code !== 0 && error === null)
      return { excess: `more than the process survives (exit ${code}, no reason)` }
    const bytes = loadBounded(file, maxRulesBytes)
    if (!isFault(bytes))
      return {
        rules: JSON.parse(bytes.toString()) as Rules,
        isPartial: error !== null && away.includes(error.code),
      }
    return error === null ? { excess: 'more than 16 MB of owners' } : { fault: error }
  })
}
