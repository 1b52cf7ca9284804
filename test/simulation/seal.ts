import childProcess from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { World } from './world.ts'

type Globals = Record<string, unknown>

const timers = ['setTimeout', 'setInterval', 'setImmediate', 'fetch']
const RealDate = Date

/**
 * Does some work while nothing real can be reached: no timer, no wall clock, no chance, no file, no process, no network. Whoever
 * tries ends the simulation with a violation that names what it was. Dates may be made of a given time.
 */
export async function sealed<T>(world: World, work: () => Promise<T>): Promise<T> {
  const refuse = (name: string) => () => {
    const error = new Error(`a simulation may not use ${name}`)
    world.violated('sealed', error.stack ?? error.message)
    throw error
  }
  class SimulatedDate extends RealDate {
    constructor(...given: unknown[]) {
      if (given.length === 0) refuse('new Date()')()
      super(...(given as [number]))
    }
    static override now(): number {
      return world.time
    }
  }
  const undo = [
    replace(globalThis as unknown as Globals, Object.fromEntries(timers.map((name) => [name, refuse(name)]))),
    replace(globalThis as unknown as Globals, { Date: SimulatedDate }),
    replace(Math as unknown as Globals, { random: refuse('Math.random') }),
    replace(AbortSignal as unknown as Globals, { timeout: refuse('AbortSignal.timeout') }),
    replace(performance as unknown as Globals, { now: refuse('performance.now') }),
    replace(crypto as unknown as Globals, { randomUUID: refuse('crypto.randomUUID') }),
    replace(childProcess as unknown as Globals, refusals(childProcess as unknown as Globals, refuse)),
    replace(fs as unknown as Globals, refusals(fs as unknown as Globals, refuse)),
  ]
  syncBuiltinESMExports()
  try {
    return await work()
  } finally {
    for (const each of undo) each()
    syncBuiltinESMExports()
  }
}

function refusals(module: Globals, refuse: (name: string) => () => void): Globals {
  const functions = Object.keys(module).filter((name) => /^[a-z]/.test(name) && typeof module[name] === 'function' && name !== 'close')
  return Object.fromEntries(functions.map((name) => [name, refuse(name)]))
}

function replace(target: Globals, replacements: Globals): () => void {
  const before = Object.keys(replacements).map((name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const)
  for (const [name, value] of Object.entries(replacements))
    Object.defineProperty(target, name, { value, configurable: true, writable: true })
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) delete target[name]
      else Object.defineProperty(target, name, descriptor)
    }
  }
}
