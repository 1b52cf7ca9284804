import type { Outside } from '../../src/operations/runtime/parts.ts'
import type { StateConfig } from '../../src/core/model/config.ts'
import { parseLog } from '../../src/state/format/log-file.ts'
import { buildLockPath } from '../../src/state/format/state-paths.ts'
import { isObject, type Json } from '../../src/core/model/json.ts'
import type { Chance } from './chance.ts'
import { Volume } from './disk.ts'
import type { Faults } from './faults.ts'
import { Git } from './git.ts'
import { Machine, type Process } from './machine.ts'
import { createPool } from './sql/network.ts'
import { SqlServer } from './sql/server.ts'
import type { World } from './world.ts'

/**
 * Kinds of stores: a folder of one machine or shared by two, a branch of one clone or of a remote,
 * a database of two machines.
 */
export const storeKinds = ['folder', 'shared folder', 'git', 'git with remote', 'postgres'] as const
export type StoreKind = (typeof storeKinds)[number]

interface Place {
  /** Disk of a machine; unsynced changes are lost with its power. */
  volume: Volume
  refs: Map<string, string>
}

const branch = 'edgewise-state'
const ref = `refs/heads/${branch}`
/** Remembers the last commit that a clone has seen of the branch. */
const seenRef = `refs/edgewise/fetched/origin/heads/${branch}`
const path = 'record'
const database = { url: 'postgres://database/edgewise', schema: 'edgewise' }

/** Surroundings of the store: disks, clones and the remote. */
export class StateWorld {
  readonly kind: StoreKind
  readonly machines: Machine[]
  readonly state: StateConfig
  readonly #world: World
  readonly #faults: Faults
  readonly #git: Git
  readonly #server: SqlServer
  readonly #places = new Map<Machine, Place>()
  readonly #lock: string
  /** Commit of the remote's branch before it was set back; null if it was not. */
  #newest: string | null = null
  #lastLock: { text: string; data: Json } = { text: '', data: null }

  constructor(
    world: World,
    faults: Faults,
    kind: StoreKind,
    service: { url: string; account: string },
  ) {
    this.#world = world
    this.#faults = faults
    this.kind = kind
    this.#git = new Git(world, faults)
    this.#server = new SqlServer({
      now: () => world.time,
      after: (ms, run) => world.after(ms, run),
    })
    const alone = kind === 'folder' || kind === 'git'
    this.machines = (alone ? ['a'] : ['a', 'b']).map((name) => new Machine(world, name))
    this.#lock = buildLockPath(service.url, service.account)
    const place = { branch, remote: 'origin', path }
    if (kind === 'postgres') this.state = { store: kind, ...place, database }
    else this.state = { store: kind.startsWith('git') ? 'git' : 'dir', ...place }
    const shared = new Volume(world, faults)
    for (const machine of this.machines)
      this.#places.set(
        machine,
        this.#newPlace(kind === 'shared folder' ? shared : new Volume(world, faults)),
      )
  }

  /** Creates the part of the outside that a process sees. */
  createOutside(process: Process): Pick<Outside, 'machine' | 'disk' | 'openGit' | 'createPool'> {
    const { volume, refs } = this.#getPlace(process.machine)
    const remote = this.kind === 'git with remote' ? 'origin' : null
    return {
      machine: process.outside(),
      disk: volume.disk(process),
      openGit: async () => this.#git.repository(process, refs, remote),
      createPool: () => createPool(process, this.#server, this.#faults),
    }
  }

  /**
   * Finds the actual lock holder: the name of its process, and the age of its last heartbeat, ms.
   */
  findLockHolder(): { name: string; signAge: number } | null {
    const state = this.#lockState()
    const data = state === null ? null : this.#parseLock(state.text)
    if (state === null || data === null || !isObject(data) || typeof data['who'] !== 'string')
      return null
    return { name: data['who'], signAge: this.#world.time - state.madeAt }
  }

  /** Cuts the power of a machine, which loses unsynced changes. */
  losePower(machine: Machine, chance: Chance): void {
    machine.switchOff()
    if (this.kind !== 'shared folder') this.#getPlace(machine).volume.losePower(chance)
  }

  /** Whether machines reach the store over a network, from which they may be cut off. */
  get isRemote(): boolean {
    return this.kind === 'git with remote' || this.kind === 'postgres'
  }

  /** Stops the database, and starts it again after some time, ms. */
  restartDatabase(ms: number): void {
    this.#world.count('database: restarted')
    this.#world.log('database', `stops for ${ms} ms`)
    this.#server.stop()
    this.#world.after(ms, () => this.#server.start())
  }

  /** Sets what is called before each statement that reaches the database. */
  set onStatement(call: () => void) {
    this.#server.onStatement = call
  }

  /** Counts the rows of each table of the database, and the characters of its files. */
  measureDatabase(): { rows: Record<string, number>; characters: number } {
    const { tables } = this.#server.engine
    let characters = 0
    for (const { row } of this.#server.engine.committed('files').values())
      characters += String(row['text']).length
    return {
      rows: Object.fromEntries([...tables].map(([name, { size }]) => [name, size])),
      characters,
    }
  }

  /** Gives the next run of a machine a fresh clone, as in CI; only if the remote has the state. */
  forget(machine: Machine): void {
    if (this.kind !== 'git with remote' || machine.processes.size > 0) return
    // A fresh clone can't know that the branch was set back.
    if (this.#newest !== null) return
    this.#world.count('git: fresh clone')
    this.#places.set(machine, this.#newPlace(new Volume(this.#world, this.#faults)))
  }

  /** Pushes to the same branch of the remote as another writer. */
  rivalPush(): void {
    if (this.kind === 'git with remote' && this.#newest === null)
      this.#git.rivalPush(ref, 'elsewhere/file.json')
  }

  /** Sets the remote's branch back to a state older than each clone has seen. */
  rewind(chance: Chance): boolean {
    const seen = [...this.#places.values()].map(({ refs }) => refs.get(seenRef))
    if (this.#newest !== null || !seen.every((commit) => commit !== undefined)) return false
    this.#newest = this.#git.rewind(ref, seen, chance)
    if (this.#newest !== null) this.#world.count('git: set back')
    return this.#newest !== null
  }

  /** Starts the database, and pushes the newest state back, as the message recommends. */
  restore(): void {
    this.#server.start()
    if (this.#newest === null) return
    this.#git.remote.set(ref, this.#newest)
    this.#world.log('remote', `sets ${ref} to ${this.#newest.slice(0, 7)} again`)
    this.#newest = null
  }

  /** Returns whether the last push of the other writer is kept. */
  keepsRival(): boolean {
    return this.#git.keepsRival()
  }

  /** Texts of all files as the store has them at this moment; empty without any. */
  readFiles(): ReadonlyMap<string, string> {
    if (this.kind === 'postgres')
      return new Map(
        [...this.#server.engine.committed('files')].map(([name, { row }]) => [
          name,
          String(row['text']),
        ]),
      )
    const { volume, refs } = this.#getPlace(this.machines[0] as Machine)
    if (this.kind.startsWith('git')) {
      const commit = (this.kind === 'git' ? refs : this.#git.remote).get(ref)
      return commit === undefined ? new Map() : this.#git.allFiles(commit)
    }
    const files = volume.files(`/${path}`)
    const logs = [...files.keys()].filter((name) => /^log\/.*\.jsonl$/.test(name)).toSorted()
    for (const name of logs)
      for (const [changed, text] of parseLog(name, files.get(name) ?? '').flatMap((c) => [...c]))
        if (text === null) files.delete(changed)
        else files.set(changed, text)
    return files
  }

  /** Parses the text of the lock; the last text is kept. */
  #parseLock(text: string): Json {
    if (this.#lastLock.text !== text)
      this.#lastLock = { text, data: text === '' ? null : (JSON.parse(text) as Json) }
    return this.#lastLock.data
  }

  #newPlace(volume: Volume): Place {
    volume.prepare('/clone/.git')
    return { volume, refs: new Map() }
  }

  #getPlace(machine: Machine): Place {
    const place = this.#places.get(machine)
    if (place === undefined)
      throw new TypeError(`expected a machine of this world, got ${machine.name}`)
    return place
  }

  #lockState(): { text: string; madeAt: number } | null {
    if (this.kind === 'postgres') {
      const rows = this.#server.engine.committed('locks').values()
      const held = [...rows].find(({ row }) => row['held'] === true)
      return held === undefined ? null : { text: String(held.row['text']), madeAt: held.at }
    }
    const { volume, refs } = this.#getPlace(this.machines[0] as Machine)
    if (this.kind.startsWith('git')) {
      const commit = (this.kind === 'git' ? refs : this.#git.remote).get(
        `refs/edgewise/${this.#lock}`,
      )
      const text = commit === undefined ? undefined : this.#git.read(commit, 'text')
      return commit === undefined || text === undefined
        ? null
        : { text, madeAt: this.#git.madeAt(commit) }
    }
    const folder = `/${path}/${this.#lock}`
    let newest = 0
    for (const name of volume.list(folder))
      if (name.endsWith('.json')) newest = Math.max(newest, Number.parseInt(name, 10))
    const file = `${folder}/${newest}.json`
    const [text, madeAt] = [volume.read(file), volume.madeAt(file)]
    return text === null || madeAt === null ? null : { text, madeAt }
  }
}
