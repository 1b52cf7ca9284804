import type { EndedCalls } from '../service/write/ended-calls.ts'
import type { SharedCalls } from '../service/write/call-budget.ts'
import { openCallLedger } from '../state/call-ledger.ts'
import { buildCalls, type MachineTimes } from '../state/format/calls.ts'
import type { Register } from '../state/register.ts'

/**
 * Shares the calls of an apply with other processes of the same user and account.
 *
 * @param apply id of the apply
 * @param previous id of the last apply of the same store
 * @param own its calls, and those before it, that were made on this machine
 */
export async function shareCalls(
  register: Register,
  apply: string,
  previous: string,
  own: EndedCalls[],
  readClocks: () => MachineTimes,
): Promise<SharedCalls> {
  const ledger = openCallLedger(register, apply, previous, readClocks)
  const save: SharedCalls['save'] = (list, allows) =>
    ledger.replaceOwn(() => buildCalls(list(), readClocks()), allows)
  // The calls of earlier applies count for others, and those of others from now on.
  await save(
    () => own,
    () => true,
  )
  return { load: () => ledger.loadOthers(), save }
}
