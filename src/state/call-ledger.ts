import type { CallLedger, OtherCalls, TimedCalls } from '../model/call-ledger.ts'
import { parseJson } from '../model/json.ts'
import {
  buildCalls,
  formatCalls,
  parseCalls,
  toUptimes,
  type CallsAtUptime,
  type MachineTimes,
} from './format/calls.ts'
import type { Register } from './register.ts'
import { createSerialQueue } from './serial-queue.ts'

/**
 * Opens the ledger in a register, which does not show who waits.
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
  const getTimes = (others: { located: CallsAtUptime }[]): OtherCalls => ({
    calls: others.map(({ located: { time, count } }) => ({ time, count })),
    waiting: [],
  })
  const reserve = (own: () => TimedCalls[], allows: (others: OtherCalls) => boolean) =>
    queue(async () => {
      for (;;) {
        const { version, others } = await loadOthers()
        if (!allows(getTimes(others))) return false
        const calls = [
          ...others.map(({ call, located }) => ('call' in located ? located.call : call)),
          ...buildCalls(own(), here()).map((call) => ({ ...call, by: apply })),
        ]
        if ((await register.compareAndSwap(version, formatCalls(apply, calls))) !== null)
          return true
      }
    })
  return {
    load: async () => getTimes((await loadOthers()).others),
    reserve,
    record: async (own) => void (await reserve(own, () => true)),
  }
}
