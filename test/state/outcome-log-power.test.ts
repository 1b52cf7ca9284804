// @module-tag often
import { expect } from 'vitest'
import type { UncommittedChanges } from '../../src/state/format/log-file.ts'
import type { GitRepository } from '../../src/state/git/git-repository.ts'
import { OutcomeLog } from '../../src/state/git/outcome-log.ts'
import { itOften, runs } from '../runs.ts'
import { Chance } from '../simulation/chance.ts'
import { Volume } from '../simulation/disk.ts'
import { noFaults } from '../simulation/faults.ts'
import { Machine } from '../simulation/machine.ts'
import { World } from '../simulation/world.ts'
import { DurableFolders } from '../../src/state/folder/write-file.ts'

const home = 'default/emulator'
const tip = 'tip'
const hour = 3_600_000

/** A clone on a disk, whose processes die and whose power fails. */
class Clone {
  readonly world = new World()
  readonly volume = new Volume(this.world, noFaults)
  readonly #machine = new Machine(this.world, 'm')
  readonly #name: string
  #started = 0
  #committed = ''

  constructor(name: string) {
    this.#name = name
    this.volume.prepare('/w/.git')
  }

  /** Runs a process with the log until its end or death, and cuts the power then. */
  async run(work: (log: OutcomeLog) => Promise<void>, steps = Infinity): Promise<boolean> {
    const name = `${this.#name} ${++this.#started}`
    const process = this.#machine.start(name, new Chance(name), steps)
    const disk = this.volume.disk(process)
    const git = {
      commonFolder: '/w/.git',
      findId: () => Promise.resolve('tree base'),
      commit: (_parent: string | null, _changes: unknown, message: string) => {
        this.#committed = message
        return Promise.resolve('next')
      },
    } as unknown as GitRepository
    const log = new OutcomeLog(git, home, disk, new DurableFolders(disk, '/w/.git'))
    const end = await this.world.passUntil(Promise.race([work(log), process.killed]), hour)
    this.#machine.switchOff()
    this.volume.losePower(new Chance(`power ${name}`))
    return end !== 'killed'
  }

  /** Loads the values that a commit of the log has, in their order. */
  async load(): Promise<string[]> {
    this.#committed = ''
    await this.run(async (log) => {
      await log.commit(tip)
    })
    return [...new Set(this.#committed.match(/v\d+/g))].toSorted()
  }
}

const build = (value: string): UncommittedChanges => ({
  message: value,
  files: new Map([[`${home}/journal/a.json`, value]]),
})

/** Adds changes to the log of earlier processes, and counts those that are recorded. */
async function add(log: OutcomeLog, values: string[], done: () => void): Promise<void> {
  await log.commit(tip)
  for (const value of values) {
    await log.add(tip, build(value))
    done()
  }
}

itOften(
  'outcomes that are recorded survive, wherever a process dies or the power fails',
  async () => {
    for (let seed = 1; seed <= runs(3, 50); seed++) await cutEverywhere(seed)
  },
)

/** Cuts the power at every step of a process, and at a step of the next one. */
async function cutEverywhere(seed: number): Promise<void> {
  for (let [n, isDone] = [1, false]; !isDone; n++) {
    const clone = new Clone(`${seed} ${n}`)
    let added = 0
    const count = () => {
      added++
    }
    const all = ['v1', 'v2', 'v3', 'v4']
    isDone = await clone.run((log) => add(log, all, count), n)
    const found = await clone.load()
    const possible = [added, added + 1].map((end) => all.slice(0, end))
    expect([seed, n, possible]).toEqual([seed, n, expect.arrayContaining([found])])
    added = 0
    const later = ['v5', 'v6', 'v7']
    await clone.run((log) => add(log, later, count), 1 + ((n * seed * 7) % 50))
    const left = await clone.load()
    const expected = [added, added + 1].map((end) => [...found, ...later.slice(0, end)])
    expect([seed, n, expected]).toEqual([seed, n, expect.arrayContaining([left])])
  }
}
