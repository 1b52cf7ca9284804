import { expect, it } from 'vitest'
import { createProgressLine } from '../../src/cli/terminal/progress-line.ts'
import type { CommandContext } from '../../src/cli/io.ts'

/** Creates a context with a clock set by the test, and its output. */
function makeContext(errIsTerminal: boolean, options: CommandContext['options'] = {}) {
  const written: string[] = []
  const time = { now: 0 }
  const context = {
    io: {
      errIsTerminal,
      err: (text: string) => void written.push(text),
      clock: { monotonic: () => time.now },
    },
    options,
    note: (text: string) => void written.push(text),
    live: {
      show: (compose: () => string) => void written.push(`live: ${compose()}`),
      end: () => void written.push('live: end'),
    },
  } as unknown as CommandContext
  return { context, written, time }
}

it('a short step shows nothing', () => {
  const { context, written, time } = makeContext(true)
  const line = createProgressLine(context, 'searching for fewer writes')
  for (const now of [0, 100, 199]) {
    time.now = now
    line.report(now, 1000)
  }
  expect(written).toEqual([])
})

it('a terminal shows one live line, which ends with the search', () => {
  const { context, written, time } = makeContext(true)
  const line = createProgressLine(context, 'searching for fewer writes')
  for (const now of [0, 200, 250, 400]) {
    time.now = now
    line.report(now, 1000)
  }
  line.end()
  expect(written).toEqual([
    'live: searching for fewer writes: 20 %',
    'live: searching for fewer writes: 40 %',
    'live: end',
  ])
})

it('a log gets a line every five seconds', () => {
  const { context, written, time } = makeContext(false)
  const line = createProgressLine(context, 'searching for fewer writes')
  for (const now of [0, 4999, 5000, 9000, 10_000]) {
    time.now = now
    line.report(now, 20_000)
  }
  expect(written).toEqual(['searching for fewer writes: 25 %', 'searching for fewer writes: 50 %'])
})

it.each([{ quiet: true }, { json: true }])('%j shows nothing', (options) => {
  const { context, written, time } = makeContext(true, options)
  const line = createProgressLine(context, 'searching for fewer writes')
  line.report(0, 10)
  time.now = 60_000
  line.report(5, 10)
  expect(written).toEqual([])
})
