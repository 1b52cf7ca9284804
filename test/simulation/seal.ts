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
/** Functions that look at a disk, of which an empty one has nothing. */
const looks = ['lstatSync', 'openSync', 'readdirSync', 'realpathSync', 'statSync']
const emptyDisk: Replacements = {
  existsSync: () => false,
  ...each(looks, (name) => (_path: string, options?: { throwIfNoEntry?: boolean }) => {
    if (options?.throwIfNoEntry === false) return undefined
    throw Object.assign(new Error(`ENOENT: ${name} (simulated)`), { code: 'ENOENT', syscall: name })
  }),
}

let endSealed: (() => void) | null = null

/** Ends a simulation that goes on although its test is over, as one that took too long. */
export function endLeftSimulation(): void {
  endSealed?.()
}

/**
 * Runs some work without access to anything real: timers, wall clock, randomness, files, processes,
 * network. An attempt ends the simulation with a violation that names it. Dates may be created from
 * a given time.
 *
 * @param hasDisk whether the work may look at a disk, which is empty
 */
export async function runSealed<T>(
  world: World,
  work: () => Promise<T>,
  hasDisk = false,
): Promise<T> {
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
    replace(timersPromises, each(listFunctions(timersPromises), refuse)),
    replace(childProcess, each(listFunctions(childProcess), refuse)),
    replace(net, each(['connect', 'createConnection', 'createServer'], refuse)),
    replace(fs, { ...each(listFunctions(fs), refuse), ...(hasDisk ? emptyDisk : {}) }),
  ]
  syncBuiltinESMExports()
  const unseal = () => {
    // Once only: another simulation may have begun since.
    if (undo.length === 0) return
    for (const restore of undo.splice(0)) restore()
    syncBuiltinESMExports()
    endSealed = null
  }
  endSealed = () => {
    world.isLeft = true
    unseal()
  }
  try {
    return await work()
  } finally {
    unseal()
  }
}

function listFunctions(module: object): string[] {
  return Object.entries(module).flatMap(([name, value]) =>
    /^[a-z]/.test(name) && typeof value === 'function' ? [name] : [],
  )
}

function each(
  names: string[],
  refuse: (name: string) => (...given: never[]) => void,
): Replacements {
  return Object.fromEntries(names.map((name) => [name, refuse(name)]))
}

/** Replaces properties of an object; returns a function that restores them. */
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
