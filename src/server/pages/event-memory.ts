import type { ApplyEvent } from '../../model/events.ts'
import type { Dialogue } from '../../operations/ports.ts'
import type { WaveEvent } from '../../report/live/rollout-page.ts'

/** Applies whose events are kept, events of each, and domains that an event names. */
const [maxApplies, maxEvents, maxWorse] = [50, 300, 50]

/** Creates what keeps the last events of waves, for the pages of rollouts. */
export function createEventMemory() {
  const byApply = new Map<string, WaveEvent[]>()
  const keep = (apply: string, event: WaveEvent): void => {
    const events = byApply.get(apply) ?? []
    // The applies that were used last are at the end.
    byApply.delete(apply)
    byApply.set(apply, [...events, cut(event)].slice(-maxEvents))
    for (const oldest of [...byApply.keys()].slice(0, -maxApplies)) byApply.delete(oldest)
  }
  return {
    /** Lists the events of some applies, first to last. */
    list: (applies: readonly string[]): WaveEvent[] =>
      applies.flatMap((apply) => byApply.get(apply) ?? []),
    /** Keeps the events of waves that a dialogue reports. */
    observe: (dialogue: Dialogue): Dialogue => ({
      ...dialogue,
      startProgress: async (extent) => {
        const progress = await dialogue.startProgress(extent)
        let apply = ''
        return {
          report: (event, callsLeft) => {
            if (event.type === 'apply.started') ({ apply } = event)
            if (isWaveEvent(event)) keep(apply, event)
            progress.report(event, callsLeft)
          },
          end: () => progress.end(),
        }
      },
    }),
  }
}

function isWaveEvent(event: ApplyEvent): event is WaveEvent {
  switch (event.type) {
    case 'wave.waiting':
    case 'wave.watched':
    case 'wave.judged':
    case 'rollout.taking-back':
    case 'rollout.waiting-for-approval':
      return true
    default:
      return false
  }
}

function cut(event: WaveEvent): WaveEvent {
  return event.type === 'wave.judged' ? { ...event, worse: event.worse.slice(0, maxWorse) } : event
}
