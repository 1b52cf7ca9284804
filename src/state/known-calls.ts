import { parseJson } from '../model/json.ts'
import { mergeCalls, parseCalls } from './format/calls.ts'
import type { StateFiles } from './state-files.ts'
import type { KnownCalls } from './store.ts'

/**
 * Loads the calls of an account as saved on this machine and as shared by others.
 *
 * @param died ids of applies that died, if other machines may have calls of them
 */
export async function loadKnownCalls(
  files: StateFiles,
  path: string,
  died: string[],
): Promise<KnownCalls> {
  const { here, shared } = await files.loadLocalAndShared(path)
  const own = parseCalls(parseJson(here ?? 'null'))
  const others = parseCalls(parseJson(shared ?? 'null'))
  return {
    calls: mergeCalls(own.calls, others.calls),
    apply: own.apply,
    incomplete: died.some((id) => id !== own.apply),
  }
}
