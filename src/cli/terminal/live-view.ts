import {
  formatLiveLine,
  type LiveState,
  type RolloutEvent,
} from '../../report/apply/rollout-text.ts'
import { truncate } from '../../report/text/wrap.ts'

/** A line on a terminal that counts down while a wave is waited for. */
export interface LiveView {
  report(event: Extract<RolloutEvent, { type: 'wave.waiting' | 'wave.watched' }>): void
  end(): void
}

const everyMs = 1000

/** Draws the line again every second, until it is ended. */
export function createLiveView(
  write: (text: string) => void,
  now: () => number,
  columns: number,
): LiveView {
  let state: LiveState | null = null
  let timer: NodeJS.Timeout | null = null
  const draw = () => {
    if (state !== null) write(`\r\u001b[K${truncate(formatLiveLine(state, now()), columns - 1)}`)
  }
  return {
    report: (event) => {
      if (event.type === 'wave.waiting') state = { waiting: event, watched: state?.watched ?? null }
      else if (state !== null) state = { ...state, watched: event }
      timer ??= setInterval(draw, everyMs).unref()
      draw()
    },
    end: () => {
      if (timer !== null) clearInterval(timer)
      if (state !== null) write('\r\u001b[K')
      ;[timer, state] = [null, null]
    },
  }
}
