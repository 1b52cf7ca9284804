import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../core/model/time/clock.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import type { Ports } from '../../operations/runtime/ports.ts'

/**
 * Longest time of a piece of work without a sign of progress, ms: twice the longest wait that gives
 * none, which is that for a lock between two waves.
 */
const maxSilenceMs = 60 * 60_000

/** A piece of work that runs. */
interface Piece {
  deadlineMs: number
  /** Whether other pieces may wait for it, as those of the leader's queue do. */
  isExclusive: boolean
}

/** The piece that the running code belongs to; one for all, as each makes every promise slower. */
const current = new AsyncLocalStorage<Piece>()

/**
 * Creates the watchdog, which notices work that hangs. Signs of progress are the phases, notes and
 * events of the work itself: a heartbeat continues in a process whose work hangs.
 */
export function createWatchdog(clock: Pick<Clock, 'now' | 'monotonic'>) {
  const running = new Set<Piece>()
  const findDeadline = () => clock.monotonic() + maxSilenceMs
  /** Lists the pieces that a sign of the current one is for: those that may wait for it, too. */
  const listSigned = (): Piece[] => {
    const own = current.getStore()
    return own === undefined || own.isExclusive ? [...running] : [own]
  }
  /** @param waitMs time for which a wait was announced, ms */
  const sign = (waitMs = 0): void => {
    for (const piece of listSigned())
      piece.deadlineMs = Math.max(piece.deadlineMs, findDeadline() + waitMs)
  }
  return {
    /**
     * Watches a piece of work until its end.
     *
     * @param isExclusive whether other pieces may wait for it
     */
    watch: async <T>(work: () => Promise<T>, isExclusive: boolean): Promise<T> => {
      const piece = { deadlineMs: findDeadline(), isExclusive }
      running.add(piece)
      try {
        return await current.run(piece, work)
      } finally {
        current.run(piece, sign)
        running.delete(piece)
      }
    },
    /** Creates the ports of watched work from those of the controller. */
    observe: ({ outside, listeners = [], ...ports }: Ports): Ports => ({
      ...ports,
      outside: {
        ...outside,
        note: (text) => {
          sign()
          outside.note?.(text)
        },
        onPhase: (phase) => {
          sign()
          outside.onPhase?.(phase)
        },
      },
      listeners: [
        (event) => {
          // It waits no longer: its caller does.
          if (event.type === 'apply.finished')
            for (const piece of listSigned()) piece.deadlineMs = 0
          sign(findWait(event, clock.now()))
        },
        ...listeners,
      ],
    }),
    /** Returns whether work runs without progress. */
    isHung: () => [...running].some(({ deadlineMs }) => clock.monotonic() > deadlineMs),
  }
}

/** Returns the time for which an event announces a wait, ms. */
function findWait(event: ApplyEvent, now: number): number {
  if (event.type === 'wave.waiting') return Math.max(0, Date.parse(event.until) - now)
  return event.type === 'write.waiting' ? event.seconds * 1000 : 0
}
