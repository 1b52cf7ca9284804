import type { Clock } from '../model/clock.ts'
import type { Logger } from './logger.ts'

/** Time in which messages of a kind are only counted, ms. */
const windowMs = 30_000
/** Messages with the same beginning are of a kind: ids, times and errors follow. */
const kindLength = 24

/** Ports of the log of an engine. */
export interface EngineLogPorts {
  logger: Logger
  clock: Pick<Clock, 'sleep'>
  /** Ends the wait for more messages of a kind. */
  signal: AbortSignal
}

/**
 * Adapts a logger for the engine, whose own messages are only of interest with its problems. The
 * first one of a kind is logged; while more of it arrive, each 30 s the last one and their number.
 */
export function createEngineLog({ logger, clock, signal }: EngineLogPorts) {
  const counted = new Map<string, { count: number; last: string }>()
  const count = async (level: 'warn' | 'error', kind: string): Promise<void> => {
    for (;;) {
      const repeats = { count: 0, last: '' }
      counted.set(kind, repeats)
      await clock.sleep(windowMs, signal)
      counted.delete(kind)
      if (repeats.count === 0) return
      logger[level](repeats.last, { from: 'dbos', messages: repeats.count })
      if (signal.aborted) return
    }
  }
  const limit = (level: 'warn' | 'error') => (entry: unknown) => {
    const text = toText(entry)
    const kind = `${level} ${text.slice(0, kindLength)}`
    const repeats = counted.get(kind)
    if (repeats === undefined) {
      logger[level](text, { from: 'dbos' })
      void count(level, kind)
      return
    }
    repeats.count++
    repeats.last = text
  }
  return {
    debug: () => undefined,
    info: (entry: unknown) => logger.debug(toText(entry), { from: 'dbos' }),
    warn: limit('warn'),
    error: limit('error'),
  }
}

function toText(entry: unknown): string {
  return entry instanceof Error ? entry.message : String(entry)
}
