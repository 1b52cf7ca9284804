import type { TimedCalls } from '../../core/model/call-ledger.ts'
import type { Call, MachineTimes } from '../../state/format/calls.ts'
import type { CallStore } from '../../state/store/store.ts'
import type { Outside } from './parts.ts'

/** Reads the clocks of this machine. */
export function readClocks({ clock, machine }: Outside): MachineTimes {
  return { boot: machine.boot, now: clock.now(), up: clock.monotonic() }
}

/**
 * Loads the calls of the last minute that count for the next apply: those that the store keeps, and
 * those of other processes. Changes nothing.
 */
export async function loadRecentCalls(
  store: CallStore,
  outside: Outside,
): Promise<{ kept: Call[]; others: TimedCalls[] }> {
  const { calls: kept, apply: previous = '' } = await store.loadCalls()
  const ledger = store.openCallLedger?.('', previous, () => readClocks(outside)) ?? null
  return { kept, others: (await ledger?.load())?.calls ?? [] }
}
