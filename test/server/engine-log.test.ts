import { expect, it } from 'vitest'
import { createEngineLog } from '../../src/server/engine-log.ts'
import { createLogger } from '../../src/server/logger.ts'

/** Creates the log of an engine, what it prints, and the end of all its waits. */
function createLog() {
  const lines: string[] = []
  const ends: (() => void)[] = []
  const clock = {
    now: () => 0,
    sleep: (_ms: number, signal?: AbortSignal) =>
      signal?.aborted === true
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            ends.push(resolve)
            signal?.addEventListener('abort', () => resolve())
          }),
  }
  const out = (line: string) => void lines.push(line.replace(/^\S+ /, '').trim())
  const logger = createLogger({ clock, out, format: 'text', level: 'info' })
  const stop = new AbortController()
  const log = createEngineLog({ logger, clock, signal: stop.signal })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const pass = async () => {
    for (const end of ends.splice(0)) end()
    await settle()
  }
  const abort = async () => {
    stop.abort()
    await settle()
  }
  return { log, lines, pass, abort }
}

const lost = (attempt: number) => `Database connection failed: refused (attempt ${attempt})`

it('logs the first message of a kind, then how many there were', async () => {
  const { log, lines, pass } = createLog()
  for (let i = 1; i <= 150; i++) log.warn(lost(i))
  log.warn(new Error('Error getting startable workflows'))
  expect(lines).toEqual([
    `warn  ${lost(1)} from=dbos`,
    'warn  Error getting startable workflows from=dbos',
  ])
  await pass()
  expect(lines.slice(2)).toEqual([`warn  ${lost(150)} from=dbos messages=149`])
  log.warn(lost(151))
  await pass()
  expect(lines.slice(3)).toEqual([`warn  ${lost(151)} from=dbos messages=1`])
  // Nothing for as long as a window: the next one is a first one.
  await pass()
  log.warn(lost(1))
  expect(lines.slice(4)).toEqual([`warn  ${lost(1)} from=dbos`])
})

it('hides no error behind warnings, and no message at its end', async () => {
  const { log, lines, abort } = createLog()
  log.warn(lost(1))
  log.error(lost(2))
  log.warn(lost(3))
  await abort()
  log.warn(lost(4))
  expect(lines).toEqual([
    `warn  ${lost(1)} from=dbos`,
    `error ${lost(2)} from=dbos`,
    `warn  ${lost(3)} from=dbos messages=1`,
    `warn  ${lost(4)} from=dbos`,
  ])
})
