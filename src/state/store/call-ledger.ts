import type { CallLedger, OtherCalls, TimedCalls } from '../../core/model/call-ledger.ts'
import { parseJson } from '../../core/model/json.ts'
import {
  buildCalls,
  formatCalls,
  parseCalls,
  toUptimes,
  type MachineTimes,
  mergeCalls,
} from '../format/calls.ts'
import type { Register } from './register.ts'
import { createSerialQueue } from './serial-queue.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { StateFiles } from './state-files.ts'
import type { KnownCalls } from './store.ts'

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
  const getTimes = (others: { located: TimedCalls }[]): OtherCalls => ({
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

/**
 * Creates a register whose failure ends no work: it is then empty, and every change succeeds.
 *
 * @param onFailure called with the reason of the first failure
 */
export function createOptionalRegister(
  register: Register,
  onFailure: (reason: string) => void,
): Register {
  let hasFailed = false
  const attempt = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    if (hasFailed) return otherwise
    try {
      return await work()
    } catch (error) {
      throwDefect(error)
      hasFailed = true
      onFailure(error.message)
      return otherwise
    }
  }
  return {
    location: register.location,
    read: () => attempt(() => register.read(), { version: null, text: null }),
    compareAndSwap: (version, text) =>
      attempt<string | null>(() => register.compareAndSwap(version, text), 'none'),
  }
}

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
