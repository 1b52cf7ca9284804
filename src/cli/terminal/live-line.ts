import { truncate } from '../../outlets/report/text/wrap.ts'
import type { Io, LiveLine } from '../io.ts'

const intervalMs = 1000
const clear = '\r\u001b[K'

/**
 * Adds a live line to the streams of a terminal: other texts are printed above it. Without a
 * terminal nothing is shown.
 */
export function addLiveLine(io: Io): { io: Io; live: LiveLine } {
  const nothing = () => undefined
  if (!io.errIsTerminal)
    return { io, live: { show: nothing, showLater: nothing, draw: nothing, end: nothing } }
  let compose: (() => string) | null = null
  let timer: NodeJS.Timeout | null = null
  let visible = false
  const draw = () => {
    if (compose === null) return
    io.err(`${clear}${truncate(compose(), io.errColumns - 1)}`)
    visible = true
  }
  const hide = () => {
    if (visible) io.err(clear)
    visible = false
  }
  const showLater = (next: () => string) => {
    compose = next
    timer ??= setInterval(draw, intervalMs).unref()
  }
  const printAbove = (print: () => void, text: string) => {
    const wasVisible = visible
    hide()
    print()
    if (wasVisible && text.endsWith('\n')) draw()
  }
  return {
    io: {
      ...io,
      out: (text, as) => printAbove(() => io.out(text, as), text),
      err: (text) => printAbove(() => io.err(text), text),
    },
    live: {
      show: (next) => {
        showLater(next)
        draw()
      },
      showLater: (next) => {
        hide()
        showLater(next)
      },
      draw,
      end: () => {
        hide()
        if (timer !== null) clearInterval(timer)
        ;[compose, timer] = [null, null]
      },
    },
  }
}
