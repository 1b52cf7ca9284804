// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import { openState } from '../../src/state/store/open-state.ts'
import type { OpenState } from '../../src/state/store/store-opener.ts'
import { getRegister } from './contender.ts'
import type { RecordedState, Store } from '../../src/state/store/store.ts'
import { itOften, runs } from '../runs.ts'
import { Chance } from '../simulation/chance.ts'
import { Volume } from '../simulation/disk.ts'
import { noFaults } from '../simulation/faults.ts'
import { Machine, type Process } from '../simulation/machine.ts'
import { World } from '../simulation/world.ts'
import { buildItem } from './store-contract.ts'

/** Domain → value; null removes the domain. */
type Values = Record<string, string | null>

const place = { root: '/w', id: 'default', address: 'https://api.example.net', account: 'default' }
const logFolder = '/w/state/log'
const hour = 3_600_000

/** A machine with one disk, whose processes die and whose power fails. */
class Room {
  readonly world = new World()
  readonly volume = new Volume(this.world, noFaults)
  readonly #machine = new Machine(this.world, 'm')
  readonly #name: string
  #started = 0

  constructor(name: string) {
    this.#name = name
    this.volume.prepare('/w')
  }

  /** Runs a process with the lock until its end or death, and cuts the power then. */
  async run(
    work: (store: Store) => Promise<void>,
    { steps = Infinity, powerFails = true } = {},
  ): Promise<boolean> {
    const name = `${this.#name} ${++this.#started}`
    const process = this.#machine.start(name, new Chance(name), steps)
    const all = async () => {
      const opened = await this.open(process)
      const { store } = opened
      const lock = getRegister(opened)
      const { version } = await lock.read()
      expect(await lock.compareAndSwap(version, name)).not.toBeNull()
      await work(store)
    }
    const end = await this.world.passUntil(Promise.race([all(), process.killed]), hour)
    this.#machine.switchOff()
    if (powerFails) this.volume.losePower(new Chance(`power ${name}`))
    return end !== 'killed'
  }

  /** Loads the values as a process without the lock sees them. */
  async load(): Promise<Values> {
    const { store } = await this.open(this.startReader())
    return toValues(await this.world.passUntil(store.load(), hour))
  }

  startReader(): Process {
    return this.#machine.start('reader', new Chance('reader'), Infinity)
  }

  open(process: Process): Promise<OpenState> {
    const world = {
      disk: this.volume.disk(process),
      processName: process.outside().processName,
      openGit: () => Promise.reject(new Error('expected no git')),
    }
    const state = { store: 'dir' as const, branch: '', remote: 'origin', path: 'state' }
    return openState({ ...place, state }, world)
  }
}

function toState(values: Values): RecordedState {
  return new Map(
    Object.entries(values).map(([domain, value]) => [
      domain,
      new Map(value === null ? [] : [['timeout', buildItem(value)]]),
    ]),
  )
}

function toValues(recorded: RecordedState): Values {
  const values: Values = {}
  for (const [domain, items] of recorded)
    values[domain] = JSON.stringify(items.get('timeout')?.candidates)
  return values
}

/** Changes of a process, one after another; null moves the log to the files. */
const changes: (Values | null)[] = [
  { 'a.example.com': '1', 'b.example.com': '1' },
  { 'a.example.com': '2', 'b.example.com': '2', 'c.example.com': '2' },
  null,
  { 'a.example.com': '3', 'c.example.com': null },
  { 'c.example.com': '4' },
  null,
  { 'b.example.com': '5', 'c.example.com': null },
]

/** Makes changes, and returns how many of them are recorded. */
async function make(store: Store, list: typeof changes, done: () => void): Promise<void> {
  await store.load()
  for (const values of list) {
    if (values === null) await store.checkpoint?.()
    else await store.save(toState(values), 'test')
    done()
  }
}

/** Lists the values before the changes, and after each of them, as they are loaded. */
function listStates(before: Values, list: typeof changes): Values[] {
  const states = [before]
  for (const values of list) {
    const after = { ...states.at(-1) }
    for (const [domain, time] of Object.entries(values ?? {})) {
      if (time === null) delete after[domain]
      else after[domain] = JSON.stringify([{ time }])
    }
    states.push(after)
  }
  return states
}

const many = Object.fromEntries(
  Array.from({ length: 70 }, (_, i) => [`d${i}.example.com`, String(i)]),
)

describe('the log of a folder', () => {
  itOften(
    'loses nothing that is recorded, wherever a process dies or the power fails',
    async () => {
      await cutEverywhere(changes, runs(13, 1))
    },
  )

  itOften('loses nothing when many files move at once', async () => {
    await cutEverywhere([many, null, { 'd1.example.com': 'x' }, null], runs(151, 5))
  })

  it('is visible to readers, and empty when the lock is released', async () => {
    const room = new Room('rest')
    await room.run(
      async (store) => {
        await make(store, [{ 'a.example.com': '1' }], () => {})
        expect(room.volume.list(logFolder)).toHaveLength(1)
        expect(await loadElsewhere(room)).toEqual(listStates({}, [{ 'a.example.com': '1' }])[1])
        await store.checkpoint?.()
        expect(room.volume.list(logFolder)).toEqual([])
      },
      { powerFails: false },
    )
    expect(await room.load()).toEqual(listStates({}, [{ 'a.example.com': '1' }])[1])
  })
})

/**
 * Cuts the power at every `step`th step of a process that makes changes, and at a step of the next
 * one, which finds its log.
 */
async function cutEverywhere(list: typeof changes, step: number): Promise<void> {
  const states = listStates({}, list)
  for (let [n, isDone] = [1, false]; !isDone; n += step) {
    const room = new Room(String(n))
    let made = 0
    const count = () => {
      made++
    }
    isDone = await room.run((store) => make(store, list, count), { steps: n })
    const found = await room.load()
    expect([n, [states[made], states[made + 1]]]).toEqual([n, expect.arrayContaining([found])])
    const next = [{ 'next.example.com': '9' }, null]
    const nextStates = listStates(found, next)
    made = 0
    await room.run((store) => make(store, next, count), { steps: 1 + ((n * 7) % 90) })
    const left = await room.load()
    expect([n, [nextStates[made], nextStates[made + 1]]]).toEqual([
      n,
      expect.arrayContaining([left]),
    ])
    await room.run((store) => store.checkpoint?.() ?? Promise.resolve())
    expect([n, room.volume.list(logFolder)]).toEqual([n, []])
    expect([n, await room.load()]).toEqual([n, left])
  }
}

/** Loads the values while another process runs. */
async function loadElsewhere(room: Room): Promise<Values> {
  const { store } = await room.open(room.startReader())
  return toValues(await store.load())
}
