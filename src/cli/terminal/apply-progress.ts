import type { ApplyEvent } from '../../index.ts'
import { barColumns, barText } from '../../report/apply/bar.ts'
import { eventLine } from '../../report/apply/text.ts'
import type { CallBudget } from '../../service/write/call-budget.ts'
import type { CommandContext } from '../io.ts'
import { liveView } from './live-view.ts'
import { errSentences } from './sentences.ts'

/** Shows how an apply goes on. */
export interface Progress {
  tell(event: ApplyEvent, budget: CallBudget | null): void
  end(): void
}

/** A bar on a terminal, plain lines elsewhere, nothing with `--quiet`. */
export async function progressFor(context: CommandContext, writes: number, callsPerMinute: number, inWaves: boolean): Promise<Progress> {
  const { io, options, errPaint } = context
  if (options.quiet === true || options.json === true || (writes === 0 && !inWaves)) return { tell: () => undefined, end: () => undefined }
  if (!io.errIsTerminal) {
    let total = writes
    return {
      tell: (event) => {
        if (event.type === 'rollout.taking-back') total = event.writes
        const line = eventLine(event, total, errPaint)
        if (line !== null) io.err(`${line}\n`)
      },
      end: () => undefined,
    }
  }
  return onTerminal(context, writes, callsPerMinute)
}

async function onTerminal({ io, errPaint }: CommandContext, planned: number, callsPerMinute: number): Promise<Progress> {
  const { openBar } = await import('./bar.ts')
  const bar = openBar('{bar} {text}', false, barColumns(io.columns, planned, callsPerMinute))
  const about = (budget: CallBudget | null) => ({
    text: barText({ done, writes, callsLeft: budget?.left() ?? callsPerMinute, callsPerMinute }),
  })
  const live = liveView(
    (text) => io.err(text),
    () => io.clock.now(),
    io.columns,
  )
  let [done, writes, shows] = [0, planned, false]
  const show = (budget: CallBudget | null) => {
    if (shows) bar.update(done, about(budget))
    else bar.start(writes, done, about(budget))
    shows = true
  }
  const hide = () => {
    if (shows) bar.stop()
    shows = false
  }
  if (writes > 0) show(null)
  return {
    tell: (event, budget) => {
      if (event.type === 'wave.waiting' || event.type === 'wave.watched') {
        hide()
        return live.tell(event)
      }
      live.end()
      if (event.type === 'rollout.taking-back') {
        hide()
        ;[done, writes] = [0, event.writes]
      }
      if (/^write\.(confirmed|refused|in-doubt|not-sent)$/.test(event.type)) done++
      const line = event.type === 'write.confirmed' ? null : eventLine(event, writes, errPaint)
      if (line !== null) io.err(`\r\u001b[K${errSentences(line, io)}\n`)
      if (event.type.startsWith('write.')) show(budget)
    },
    end: () => {
      live.end()
      hide()
    },
  }
}
