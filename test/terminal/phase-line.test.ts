import { afterEach, expect, it, vi } from 'vitest'
import { createPhaseLine } from '../../src/cli/terminal/phase-line.ts'
import type { GlobalOptions, LiveLine } from '../../src/cli/io.ts'
import type { Clock } from '../../src/core/model/time/clock.ts'

afterEach(() => void vi.useRealTimers())

/** Creates the phase line of a command, whose time and timers the test moves, and its output. */
function setUp(errIsTerminal: boolean, options: GlobalOptions = {}) {
  vi.useFakeTimers()
  const written: string[] = []
  let now = 0
  const wait = (ms: number) => {
    now += ms
    vi.advanceTimersByTime(ms)
  }
  const live: LiveLine = {
    show: (compose) => void written.push(compose()),
    showLater: (compose) => void written.push(`later: ${compose()}`),
    draw: () => undefined,
    end: () => void written.push('end'),
  }
  const clock = { monotonic: () => now } as Clock
  const line = createPhaseLine({ clock, errIsTerminal }, options, live, (text) =>
    written.push(text),
  )
  return { line, written, wait }
}

it('a terminal shows short phases only if they take longer', () => {
  const { line, written, wait } = setUp(true)
  line.report({ name: 'loading-files', done: 0, total: 3 })
  wait(100)
  line.report({ name: 'checking-manifests', done: 0, total: 3 })
  line.report({ name: 'checking-manifests', done: 1, total: 3 })
  wait(99)
  line.report({ name: 'loading-state' })
  line.end()
  expect(written).toEqual([
    'later: loading 0 of 3 files',
    'later: checking 0 of 3 manifests',
    'later: loading the state',
    'end',
  ])
})

it('a terminal shows a phase before it blocks, and its progress five times a second', () => {
  const { line, written, wait } = setUp(true)
  line.report({ name: 'listing-files' })
  wait(200)
  for (const done of [0, 1, 2, 3]) {
    line.report({ name: 'loading-files', done, total: 3 })
    wait(100)
  }
  line.report({ name: 'loading-state' })
  line.end()
  expect(written).toEqual([
    'later: listing files',
    'loading 0 of 3 files',
    'loading 2 of 3 files',
    'loading the state',
    'end',
  ])
})

it('a terminal shows a phase of many parts at once', () => {
  const { line, written } = setUp(true)
  line.report({ name: 'listing-files' })
  line.report({ name: 'listing-files', total: 10_000 })
  line.report({ name: 'saving-state', total: 10_000 })
  expect(written).toEqual([
    'later: listing files',
    'listing 10,000 files',
    'saving the state of 10,000 domains',
  ])
})

it('a phase after a result begins anew', () => {
  const { line, written, wait } = setUp(true)
  line.report({ name: 'loading-state' })
  wait(1000)
  line.end()
  line.end()
  line.report({ name: 'saving-state', total: 1 })
  expect(written).toEqual([
    'later: loading the state',
    'end',
    'later: saving the state of 1 domain',
  ])
})

it('a log gets a line after five seconds, then every 30 seconds', () => {
  const { line, written, wait } = setUp(false)
  line.report({ name: 'loading-files', done: 0, total: 10_000 })
  wait(4000)
  expect(written).toEqual([])
  line.report({ name: 'loading-files', done: 2000, total: 10_000 })
  wait(1000)
  expect(written).toEqual(['loading 2,000 of 10,000 files'])
  line.report({ name: 'loading-files', done: 9000, total: 10_000 })
  wait(29_000)
  expect(written).toHaveLength(1)
  wait(1000)
  expect(written.slice(1)).toEqual(['loading 9,000 of 10,000 files'])
})

it('a log gets a line for the next phase, but not within five seconds', () => {
  const { line, written, wait } = setUp(false)
  line.report({ name: 'loading-files', done: 0, total: 10_000 })
  wait(5000)
  line.report({ name: 'checking-manifests', done: 0, total: 10_000 })
  wait(1000)
  line.report({ name: 'loading-state' })
  wait(4000)
  line.end()
  wait(60_000)
  expect(written).toEqual(['loading 0 of 10,000 files', 'loading the state'])
})

it('a log gets the line of a phase that begins late before it blocks', () => {
  const { line, written, wait } = setUp(false)
  line.report({ name: 'loading-state' })
  wait(5000)
  wait(5000)
  line.report({ name: 'comparing', total: 2 })
  expect(written).toEqual(['loading the state', 'comparing 2 domains'])
})

it.each([
  { quiet: true, errIsTerminal: true },
  { json: true, errIsTerminal: true },
  { quiet: true, errIsTerminal: false },
  { json: true, errIsTerminal: false },
])('%j shows nothing', ({ errIsTerminal, ...options }) => {
  const { line, written, wait } = setUp(errIsTerminal, options)
  line.report({ name: 'saving-state', total: 10_000 })
  wait(60_000)
  line.report({ name: 'comparing', total: 10_000 })
  line.end()
  expect(written).toEqual([])
})
