import type { ApplyEvent } from '../index.ts'
import { eventLine } from '../report/apply-text.ts'
import type { CallBudget } from '../service/call-budget.ts'
import type { CommandContext } from './io.ts'

/** Shows how an apply goes on. */
export interface Progress {
  tell(event: ApplyEvent, budget: CallBudget): void
  end(): void
}

/** A bar on a terminal, plain lines elsewhere, nothing with `--quiet`. */
export async function progressFor(context: CommandContext, writes: number, callsPerMinute: number): Promise<Progress> {
  const { io, options, errPaint } = context
  if (options.quiet === true || options.json === true || writes === 0) return { tell: () => undefined, end: () => undefined }
  if (!io.errIsTerminal) {
    return {
      tell: (event) => {
        const line = eventLine(event, writes, errPaint)
        if (line !== null) io.err(`${line}\n`)
      },
      end: () => undefined,
    }
  }
  const { openBar } = await import('./bar.ts')
  const bar = openBar('{bar} {value}/{total} writes · {budget} calls left this minute · {left}', false)
  const about = (done: number, budget: CallBudget | null) => ({
    budget: budget?.left() ?? callsPerMinute,
    left: timeLeft(writes - done, budget?.left() ?? callsPerMinute, callsPerMinute),
  })
  bar.start(writes, 0, about(0, null))
  let done = 0
  return {
    tell: (event, budget) => {
      if (/^write\.(confirmed|refused|in-doubt|not-sent)$/.test(event.type)) done++
      bar.update(done, about(done, budget))
      const line = event.type === 'write.confirmed' ? null : eventLine(event, writes, errPaint)
      if (line !== null) io.err(`\r\u001b[K${line}\n`)
    },
    end: () => bar.stop(),
  }
}

/** What the call rate leaves to wait for, at least. */
function timeLeft(writes: number, callsLeft: number, callsPerMinute: number): string {
  const minutes = Math.ceil(Math.max(0, writes - callsLeft) / callsPerMinute)
  return writes === 0 ? 'done' : minutes === 0 ? 'less than a minute left' : `about ${minutes} min left`
}
