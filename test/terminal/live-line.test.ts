import { afterEach, expect, it, vi } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { addLiveLine } from '../../src/cli/terminal/live-line.ts'

afterEach(() => void vi.useRealTimers())

/** Creates the streams of a terminal of 20 columns, and what is written to them. */
function setUp(errIsTerminal = true) {
  vi.useFakeTimers()
  const written: string[] = []
  const write = (text: string) => void written.push(text.replace('\r\u001b[K', '<'))
  const streams = { out: write, err: write, errIsTerminal, errColumns: 20 } as unknown as Io
  return { ...addLiveLine(streams), written }
}

it('prints other texts above the live line', () => {
  const { io, live, written } = setUp()
  live.show(() => 'sending')
  io.out('result\n')
  io.err('refused\n')
  live.end()
  io.err('end\n')
  expect(written).toEqual([
    '<sending',
    '<',
    'result\n',
    '<sending',
    '<',
    'refused\n',
    '<sending',
    '<',
    'end\n',
  ])
})

it('draws the line every second, truncated to the terminal', () => {
  const { live, written } = setUp()
  let seconds = 0
  live.show(() => `${seconds++} seconds of a long wait`)
  vi.advanceTimersByTime(2000)
  live.end()
  vi.advanceTimersByTime(5000)
  expect(written).toEqual([
    '<0 seconds of a lon…',
    '<1 seconds of a lon…',
    '<2 seconds of a lon…',
    '<',
  ])
})

it('shows a later line only if the command still runs', () => {
  const { live, written } = setUp()
  live.showLater(() => 'loading')
  live.end()
  expect(written).toEqual([])
  live.showLater(() => 'loading')
  vi.advanceTimersByTime(1000)
  live.showLater(() => 'planning')
  live.end()
  expect(written).toEqual(['<loading', '<'])
})

it('shows nothing without a terminal', () => {
  const { io, live, written } = setUp(false)
  live.show(() => 'sending')
  io.err('refused\n')
  live.end()
  expect(written).toEqual(['refused\n'])
})
