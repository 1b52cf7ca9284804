import type { ApplyEvent } from '../../model/events.ts'
import type { Dialogue } from '../../operations/ports.ts'
import type { WaveEvent } from '../../report/live/rollout-page.ts'

/** Rollouts whose events are kept, events of each, and domains that an event names. */
const [maxRollouts, maxEvents, maxWorse] = [50, 300, 50]

/** Creates what keeps the last events of waves, for the pages of rollouts. */
export function createEventMemory() {
  const byRollout = new Map<string, WaveEvent[]>()
  const keep = (rollout: string, event: WaveEvent): void => {
    const events = byRollout.get(rollout) ?? []
    // The rollouts that were used last are at the end.
    byRollout.delete(rollout)
    byRollout.set(rollout, [...events, cut(event)].slice(-maxEvents))
    for (const oldest of [...byRollout.keys()].slice(0, -maxRollouts)) byRollout.delete(oldest)
  }
  return {
    /** Lists the events of a rollout, first to last. */
    list: (rollout: string): WaveEvent[] => byRollout.get(rollout) ?? [],
    /** Keeps the events of waves that a dialogue reports. */
    observe: (dialogue: Dialogue): Dialogue => ({
      ...dialogue,
      startProgress: async (extent) => {
        const progress = await dialogue.startProgress(extent)
        let rollout = ''
        return {
          report: (event, callsLeft) => {
            // All applies of a rollout begin with its id.
            if (event.type === 'apply.started') rollout = event.apply
            if (isWaveEvent(event)) keep(rollout, event)
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
