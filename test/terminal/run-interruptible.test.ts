import { afterAll, beforeAll, expect, it } from 'vitest'
import { runInterruptible } from '../../src/cli/run-process.ts'

const { signal } = new AbortController()
const fail = () => {
  throw new TypeError('expected no interrupt')
}

// Without a listener, a signal that does not end the work would end the tests.
const ignore = () => undefined
beforeAll(() => void process.on('SIGINT', ignore))
afterAll(() => void process.off('SIGINT', ignore))

it('Ctrl-C ends work that blocks the thread', () => {
  let interrupts = 0
  const listeners = process.rawListeners('SIGINT')
  const work = () => {
    process.kill(process.pid, 'SIGINT')
    const end = performance.now() + 20_000
    while (performance.now() < end);
    return 'ended by itself'
  }
  expect(() => runInterruptible(work, signal, () => interrupts++)).toThrow(
    'Interrupted before anything was changed',
  )
  expect(interrupts).toBe(1)
  expect(process.rawListeners('SIGINT')).toEqual(listeners)
})

it('Ctrl-C ends the wait for other threads', () => {
  let interrupts = 0
  const work = () => {
    process.kill(process.pid, 'SIGINT')
    return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20_000)
  }
  expect(() => runInterruptible(work, signal, () => interrupts++)).toThrow('Interrupted')
  expect(interrupts).toBe(1)
})

it('work that is not interrupted returns its result or throws its error', () => {
  expect(runInterruptible(() => 7, signal, fail)).toBe(7)
  const error = new TypeError('own')
  const work = () => {
    throw error
  }
  expect(() => runInterruptible(work, signal, fail)).toThrow(error)
})

it('no work begins after an interrupt', () => {
  expect(() => runInterruptible(fail, AbortSignal.abort(), fail)).toThrow('Interrupted')
})
