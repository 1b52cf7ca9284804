import { parseJson } from '../model/json.ts'
import {
  formatCalls,
  parseCalls,
  toUptimes,
  type Call,
  type CallsAtUptime,
  type MachineTimes,
} from './format/calls.ts'
import type { Register } from './register.ts'
import { createSerialQueue } from './serial-queue.ts'

/** The recent calls of all processes of a user on this machine, for one account of a service. */
export interface CallLedger {
  /** Loads the calls of other processes. */
  loadOthers(): Promise<CallsAtUptime[]>
  /**
   * Replaces the calls of this process if those of the others allow it; returns whether they do. No
   * other process adds calls in between.
   */
  replaceOwn(own: () => Call[], allows: (others: CallsAtUptime[]) => boolean): Promise<boolean>
}

/**
 * Opens the ledger in a register.
 *
 * @param apply id of the apply of this process
 * @param previous id of the last apply of the same store, whose calls this process takes over
 * @param here reads the clocks of this machine
 */
export function openCallLedger(
  register: Register,
  apply: string,
  previous: string,
  here: () => MachineTimes,
): CallLedger {
  const queue = createSerialQueue()
  /** Loads the calls of other processes that still count. */
  const loadOthers = async () => {
    const { version, text } = await register.read()
    const others = parseCalls(parseJson(text ?? 'null'))
      .calls.filter(({ by }) => by !== apply && by !== previous)
      .flatMap((call) => toUptimes([call], here()).map((located) => ({ call, located })))
    return { version, others }
  }
  const getTimes = (others: { located: CallsAtUptime }[]) =>
    others.map(({ located: { time, count } }) => ({ time, count }))
  return {
    loadOthers: async () => getTimes((await loadOthers()).others),
    replaceOwn: (own, allows) =>
      queue(async () => {
        for (;;) {
          const { version, others } = await loadOthers()
          if (!allows(getTimes(others))) return false
          const calls = [
            ...others.map(({ call, located }) => ('call' in located ? located.call : call)),
            ...own().map((call) => ({ ...call, by: apply })),
          ]
          if ((await register.compareAndSwap(version, formatCalls(apply, calls))) !== null)
            return true
        }
      }),
  }
}
