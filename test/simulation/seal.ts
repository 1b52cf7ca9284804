import childProcess from 'node:child_process'
import nodeCrypto from 'node:crypto'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import timersPromises from 'node:timers/promises'
import type { World } from './world.ts'

type Replacements = Record<string, unknown>

const timers = ['setTimeout', 'setInterval', 'setImmediate', 'fetch']
const RealDate = Date

/**
 * Does some work while nothing real can be reached: no timer, no wall clock, no chance, no file, no
 * process, no network. Whoever tries ends the simulation with a violation that names what it was.
 * Dates may be made of a given time.
 */
export async function runSealed<T>(world: World, work: () => Promise<T>): Promise<T> {
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
    replace(globalThis, { Date: SimulatedDate, ...each(timers, refuse) }),
    replace(Math, { random: refuse('Math.random') }),
    replace(AbortSignal, { timeout: refuse('AbortSignal.timeout') }),
    replace(performance, { now: refuse('performance.now') }),
    replace(process, { hrtime: refuse('process.hrtime') }),
    replace(nodeCrypto, each(['randomUUID', 'randomBytes', 'randomInt'], refuse)),
    replace(timersPromises, each(functionsOf(timersPromises), refuse)),
    replace(childProcess, each(functionsOf(childProcess), refuse)),
    replace(net, each(['connect', 'createConnection', 'createServer'], refuse)),
    replace(fs, each(functionsOf(fs), refuse)),
  ]
  syncBuiltinESMExports()
  try {
    return await work()
  } finally {
    for (const restore of undo) restore()
    syncBuiltinESMExports()
  }
}

function functionsOf(module: object): string[] {
  return Object.entries(module).flatMap(([name, value]) =>
    /^[a-z]/.test(name) && typeof value === 'function' ? [name] : [],
  )
}

function each(names: string[], refuse: (name: string) => () => void): Replacements {
  return Object.fromEntries(names.map((name) => [name, refuse(name)]))
}

/** Puts others in the place of some properties; gives what takes them back. */
function replace(target: object, replacements: Replacements): () => void {
  const before = Object.keys(replacements).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  )
  for (const [name, value] of Object.entries(replacements))
    Object.defineProperty(target, name, { value, configurable: true, writable: true })
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(target, name)
      else Object.defineProperty(target, name, descriptor)
    }
  }
}
