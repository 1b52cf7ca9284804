import { expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import { createNodeOutside } from '../../src/operations/runtime/node-outside.ts'
import { createLogDialogue } from '../../src/server/log-dialogue.ts'
import { createLogger } from '../../src/server/logger.ts'
import { createWatchdog } from '../../src/server/leader/watchdog.ts'

const minute = 60_000
const start = Date.UTC(2026, 0, 2)

/** Creates a watchdog, a clock that the test sets, and work that has not ended. */
async function stage() {
  const world = { ms: 0 }
  const clock = { now: () => start + world.ms, monotonic: () => world.ms }
  const watchdog = createWatchdog(clock)
  const lines: string[] = []
  const out = (line: string) => void lines.push(line)
  const logger = createLogger({ clock, out, format: 'text', level: 'info' })
  const phases: string[] = []
  const outside = {
    ...createNodeOutside(new AbortController().signal),
    note: (text: string) => logger.info(text),
    onPhase: ({ name }: { name: string }) => void phases.push(name),
  }
  const ports = watchdog.observe({ outside, dialogue: createLogDialogue(logger) })
  const report = (event: ApplyEvent, callsLeft: number | null) => {
    for (const listener of ports.listeners ?? []) listener(event, callsLeft)
  }
  let end: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    end = resolve
  })
  const done = watchdog.watch(() => held, true)
  const finish = () => {
    end()
    return done
  }
  return { world, watchdog, ports, report, lines, phases, finish }
}
const event: ApplyEvent = { type: 'wave.finished', time: '', wave: 1 }

it('notices work without progress for an hour, and only while it runs', async () => {
  const { world, watchdog, finish } = await stage()
  world.ms = 60 * minute
  expect(watchdog.isHung()).toBe(false)
  world.ms++
  expect(watchdog.isHung()).toBe(true)
  await finish()
  expect(watchdog.isHung()).toBe(false)
  world.ms = 600 * minute
  expect(watchdog.isHung()).toBe(false)
  await expect(watchdog.watch(() => Promise.reject(new Error('it fails')), true)).rejects.toThrow()
  world.ms = 900 * minute
  expect(watchdog.isHung()).toBe(false)
})

it('takes phases, notes and events for progress', async () => {
  const { world, watchdog, ports, report, lines, phases } = await stage()
  const signs = [
    () => ports.outside.onPhase?.({ name: 'planning' }),
    () => ports.outside.note?.('waiting for the lock'),
    () => report(event, 5),
  ]
  for (const sign of signs) {
    world.ms += 59 * minute
    sign()
    expect(watchdog.isHung()).toBe(false)
  }
  world.ms += 61 * minute
  expect(watchdog.isHung()).toBe(true)
  expect(phases).toEqual(['planning'])
  expect(lines.join('')).toContain('waiting for the lock')
})

it('does not count a wait that was announced, whatever is reported meanwhile', async () => {
  const { world, watchdog, report } = await stage()
  const until = new Date(start + 300 * minute).toISOString()
  const time = ''
  report({ type: 'wave.waiting', time, wave: 1, waves: 2, domains: 1, until, reason: 'health' }, 5)
  world.ms = 10 * minute
  report(event, 5)
  world.ms = 360 * minute
  expect(watchdog.isHung()).toBe(false)
  report({ type: 'write.waiting', time, id: 1, seconds: 3600, message: 'too many calls' }, 0)
  world.ms = 480 * minute
  expect(watchdog.isHung()).toBe(false)
  world.ms++
  expect(watchdog.isHung()).toBe(true)
})

it('forgets an announced wait with the apply that ends there, and between two rounds', async () => {
  const { world, watchdog, report, finish } = await stage()
  const until = new Date(start + 900 * minute).toISOString()
  const wait = () =>
    report(
      { type: 'wave.waiting', time: '', wave: 1, waves: 2, domains: 1, until, reason: 'pause' },
      5,
    )
  wait()
  const counts = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }
  const ended = { time: '', apply: 'a1', stopped: null, ...counts, parts: counts }
  report({ type: 'apply.finished', ...ended }, 5)
  world.ms = 61 * minute
  expect(watchdog.isHung()).toBe(true)
  wait()
  expect(watchdog.isHung()).toBe(false)
  await finish()
  void watchdog.watch(() => new Promise(() => undefined), true)
  world.ms = 123 * minute
  expect(watchdog.isHung()).toBe(true)
})

it('is not deceived by the rounds beside work that hangs, which may wait for it', async () => {
  const { world, watchdog, ports, finish } = await stage()
  const round = () =>
    watchdog.watch(async () => ports.outside.onPhase?.({ name: 'planning' }), false)
  for (world.ms = 0; world.ms < 60 * minute; world.ms += minute) await round()
  expect(watchdog.isHung()).toBe(false)
  world.ms += minute
  expect(watchdog.isHung()).toBe(true)
  await finish()
  void watchdog.watch(() => new Promise(() => undefined), false)
  for (let i = 0; i < 3; i++) {
    world.ms += 59 * minute
    await watchdog.watch(async () => ports.outside.onPhase?.({ name: 'planning' }), true)
    expect(watchdog.isHung()).toBe(false)
  }
})
