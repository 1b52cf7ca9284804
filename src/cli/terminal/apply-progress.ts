import { formatJson } from '../../core/model/json.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import type { Extent, Progress } from '../../operations/runtime/ports.ts'
import {
  advanceActivity,
  createActivity,
  formatActivity,
} from '../../outlets/report/apply/activity.ts'
import { EventLines } from '../../outlets/report/apply/event-text.ts'
import type { CommandContext } from '../io.ts'
import { wrapForStderr } from './output.ts'

/**
 * Shows the progress of an apply: JSON lines with `--json`, a live line on a terminal, plain lines
 * elsewhere, nothing with `--quiet`.
 */
export function startProgress(context: CommandContext, extent: Extent): Progress {
  const { io, options } = context
  if (options.json === true)
    return { report: (event) => io.out(formatJson(event)), end: () => undefined }
  if (options.quiet === true || (extent.writes === 0 && !extent.inWaves))
    return { report: () => undefined, end: () => undefined }
  return io.errIsTerminal ? startLive(context, extent) : startLog(context, extent)
}

function startLog({ io, errPaint }: CommandContext, { parts }: Extent): Progress {
  const lines = new EventLines(parts, errPaint, Infinity)
  const print = (line: string) => io.err(`${line}\n`)
  return {
    report: (event) => lines.format(event).forEach(print),
    end: () => lines.end().forEach(print),
  }
}

/** More confirmed writes have no lines on a terminal. */
const maxConfirmed = 20

function startLive({ io, errPaint, live }: CommandContext, extent: Extent): Progress {
  const { writes, parts, callsPerMinute } = extent
  const lines = new EventLines(parts, errPaint, io.errColumns)
  let activity = createActivity(writes)
  const print = (line: string) => io.err(`${wrapForStderr(line, io)}\n`)
  let left = callsPerMinute
  live.show(() =>
    io.signal.aborted
      ? 'interrupted: ending the calls in flight; a second Ctrl-C exits at once'
      : formatActivity(activity, io.clock.now(), { callsLeft: left, callsPerMinute }),
  )
  return {
    report: (event, callsLeft) => {
      left = callsLeft ?? left
      activity = advanceActivity(activity, event, io.clock.now())
      const printed = lines.format(event)
      if (!isLive(event, writes)) printed.forEach(print)
      live.draw()
    },
    end: () => {
      lines.end().forEach(print)
      live.end()
    },
  }
}

/** Returns whether only the live line shows an event. */
function isLive(event: ApplyEvent, writes: number): boolean {
  switch (event.type) {
    case 'write.confirmed':
      return writes > maxConfirmed && event.rewritten === undefined
    case 'write.waiting':
    case 'write.isolating':
    case 'part.confirmed':
    case 'wave.waiting':
    case 'wave.watched':
      return true
    default:
      return false
  }
}
