import type { ApplyEvent } from '../../model/events.ts'
import type { Extent, Progress } from '../../operations/ports.ts'
import { computeBarColumns, formatBarText } from '../../report/apply/bar.ts'
import { formatEvent } from '../../report/apply/text.ts'
import type { CommandContext } from '../io.ts'
import { createLiveView } from './live-view.ts'
import { wrapForStderr } from './wrap-output.ts'

/**
 * Shows the progress of an apply: JSON lines with `--json`, a bar on a terminal, plain lines
 * elsewhere, nothing with `--quiet`.
 */
export async function startProgress(
  context: CommandContext,
  { writes, callsPerMinute, inWaves }: Extent,
): Promise<Progress> {
  const { io, options, errPaint } = context
  if (options.json === true)
    return { report: (event) => io.out(`${JSON.stringify(event)}\n`), end: () => undefined }
  if (options.quiet === true || (writes === 0 && !inWaves))
    return { report: () => undefined, end: () => undefined }
  if (io.errIsTerminal) return startTerminalProgress(context, writes, callsPerMinute)
  let total = writes
  const isRepeated = createWaitFilter()
  const shorten = createReasonFilter()
  return {
    report: (event: ApplyEvent) => {
      if (event.type === 'rollout.taking-back') total = event.writes
      const line = isRepeated(event) ? null : formatEvent(shorten(event), total, errPaint)
      if (line !== null) io.err(`${line}\n`)
    },
    end: () => undefined,
  }
}

/** Creates a filter for the waits of several writes that begin together: the first is printed. */
function createWaitFilter(): (event: ApplyEvent) => boolean {
  let last = ''
  return (event) => {
    const wait = event.type === 'write.waiting' ? `${event.seconds} ${event.message}` : ''
    const isRepeated = wait !== '' && wait === last
    last = wait
    return isRepeated
  }
}

/** Creates a function that shortens the reason of a write if it equals the last printed one. */
function createReasonFilter(): (event: ApplyEvent) => ApplyEvent {
  let last = ''
  return (event) => {
    if (!('message' in event)) return event
    const isSame = event.message === last
    last = event.message
    const isShort = isSame && (event.type === 'write.refused' || event.type === 'write.not-sent')
    return isShort ? { ...event, message: 'for the same reason' } : event
  }
}

async function startTerminalProgress(
  { io, errPaint }: CommandContext,
  planned: number,
  callsPerMinute: number,
): Promise<Progress> {
  const { createBar } = await import('./bar.ts')
  const bar = createBar(
    '{bar} {text}',
    false,
    computeBarColumns(io.columns, planned, callsPerMinute),
  )
  const payload = (callsLeft: number | null) => ({
    text: formatBarText({
      done: done.size,
      writes,
      callsLeft: callsLeft ?? callsPerMinute,
      callsPerMinute,
    }),
  })
  const live = createLiveView(
    (text) => io.err(text),
    () => io.clock.now(),
    io.columns,
  )
  const isRepeated = createWaitFilter()
  const shorten = createReasonFilter()
  // A bisected write may end as refused, with an in-doubt rest.
  const done = new Set<number>()
  let [writes, visible] = [planned, false]
  const show = (callsLeft: number | null) => {
    if (visible) bar.update(done.size, payload(callsLeft))
    else bar.start(writes, done.size, payload(callsLeft))
    visible = true
  }
  const hide = () => {
    if (visible) bar.stop()
    visible = false
  }
  if (writes > 0) show(null)
  return {
    report: (event, callsLeft) => {
      if (event.type === 'wave.waiting' || event.type === 'wave.watched') {
        hide()
        return live.report(event)
      }
      live.end()
      if (event.type === 'rollout.taking-back') {
        hide()
        done.clear()
        writes = event.writes
      }
      if ('id' in event && /^write\.(confirmed|refused|in-doubt|not-sent)$/.test(event.type))
        done.add(event.id)
      const isSilent = event.type.endsWith('.confirmed') || isRepeated(event)
      const line = isSilent ? null : formatEvent(shorten(event), writes, errPaint)
      if (line !== null) io.err(`\r\u001b[K${wrapForStderr(line, io)}\n`)
      if (/^(write|part)\./.test(event.type)) show(callsLeft)
    },
    end: () => {
      live.end()
      hide()
    },
  }
}
