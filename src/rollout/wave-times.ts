import type { Window } from '../model/health.ts'
import type { AppliedTimes, Rollout } from '../model/rollout.ts'
import type { RolloutContext } from './ports.ts'

type Clocks = Pick<RolloutContext, 'clock' | 'time'>

/** Times of a wave and the present by one clock. */
export interface WaveTimes extends Window {
  /** Whether the clock is the service's; otherwise it is that of the machine. */
  isService: boolean
  /** Returns the present, ms since 1970. */
  now(): number
}

/** Returns the service's time, or this machine's while the service's is unknown. */
export function readTime({ clock, time }: Clocks): number {
  return time.now() ?? clock.now()
}

/** Returns the times by the service's clock, or by the machine's if any of them is unknown. */
export function findWaveTimes(applied: AppliedTimes, clocks: Clocks): WaveTimes {
  const { from, to, serviceFrom, serviceTo } = applied
  if (clocks.time.now() === null || serviceFrom === null || serviceTo === null) {
    const window = { from: Date.parse(from), to: Date.parse(to ?? from) }
    return { ...window, isService: false, now: () => clocks.clock.now() }
  }
  const window = { from: Date.parse(serviceFrom), to: Date.parse(serviceTo) }
  return { ...window, isService: true, now: () => readTime(clocks) }
}

/** Marks the begin of a wave; a wave that is resumed keeps its own. */
export function markBegun(rollout: Rollout, waveIndex: number, clocks: Clocks): Rollout {
  const { from, serviceFrom } = rollout.waves[waveIndex]?.applied ?? {
    from: formatNow(clocks),
    serviceFrom: formatServiceNow(clocks),
  }
  return updateWave(rollout, waveIndex, {
    applied: { from, to: null, serviceFrom, serviceTo: null },
  })
}

/** Marks the end of a wave, never before its begin: a clock may have been set back. */
export function markEnded(rollout: Rollout, waveIndex: number, clocks: Clocks): Rollout {
  const now = formatNow(clocks)
  const serviceNow = formatServiceNow(clocks)
  const { from, serviceFrom } = rollout.waves[waveIndex]?.applied ?? {
    from: now,
    serviceFrom: serviceNow,
  }
  const serviceTo =
    serviceNow === null || serviceFrom === null ? serviceNow : findLater(serviceFrom, serviceNow)
  return updateWave(rollout, waveIndex, {
    applied: { from, to: findLater(from, now), serviceFrom, serviceTo },
  })
}

/** Returns a rollout with changes to one wave. */
export function updateWave(
  rollout: Rollout,
  waveIndex: number,
  more: Partial<Rollout['waves'][number]>,
): Rollout {
  return {
    ...rollout,
    waves: rollout.waves.map((wave, i) => (i === waveIndex ? { ...wave, ...more } : wave)),
  }
}

/**
 * Computes the rest of the pause after a wave, ms. The process that sent the wave knows its end by
 * the monotonic clock. Another one knows it by the service's clock, or else pauses in full.
 *
 * @param endedAtMs end of the wave by the monotonic clock; null if another process sent it
 */
export async function computePauseLeft(
  { serviceTo }: AppliedTimes,
  endedAtMs: number | null,
  pauseMs: number,
  { clock, time }: Clocks,
): Promise<number> {
  if (endedAtMs !== null) return Math.max(0, endedAtMs + pauseMs - clock.monotonic())
  const now = await time.ask()
  if (now === null || serviceTo === null) return pauseMs
  return Math.min(pauseMs, Math.max(0, Date.parse(serviceTo) + pauseMs - now))
}

/** Formats the time of this machine's clock. */
export function formatNow({ clock }: Pick<Clocks, 'clock'>): string {
  return new Date(clock.now()).toISOString()
}

function formatServiceNow({ time }: Pick<Clocks, 'time'>): string | null {
  const now = time.now()
  return now === null ? null : new Date(now).toISOString()
}

function findLater(a: string, b: string): string {
  return Date.parse(b) < Date.parse(a) ? a : b
}
