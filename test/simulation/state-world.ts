import type { Outside } from '../../src/operations/outside.ts'
import type { StateConfig } from '../../src/model/config.ts'
import { buildLockPath } from '../../src/state/format/state-paths.ts'
import { isObject, type Json } from '../../src/model/json.ts'
import type { Chance } from './chance.ts'
import { Volume } from './disk.ts'
import type { Faults } from './faults.ts'
import { Git } from './git.ts'
import { Machine, type Process } from './machine.ts'
import type { World } from './world.ts'

/**
 * Where a record is kept: in a folder of one machine or one that two machines see, on a branch of
 * one clone or of a remote.
 */
export type StoreKind = 'folder' | 'shared folder' | 'git' | 'git with remote'

interface Place {
  /** A machine's disk, which is lost with its power as far as nothing was synced. */
  volume: Volume
  refs: Map<string, string>
}

const branch = 'edgewise-state'
const path = 'record'

/** The record's surroundings: disks, clones and the remote, and who may reach what. */
export class StateWorld {
  readonly kind: StoreKind
  readonly machines: Machine[]
  readonly state: StateConfig
  readonly #world: World
  readonly #faults: Faults
  readonly #git: Git
  readonly #places = new Map<Machine, Place>()
  readonly #lock: string

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
    const alone = kind === 'folder' || kind === 'git'
    this.machines = (alone ? ['a'] : ['a', 'b']).map((name) => new Machine(world, name))
    this.#lock = buildLockPath(service.url, service.account)
    this.state = { store: kind.startsWith('git') ? 'git' : 'dir', branch, remote: 'origin', path }
    const shared = new Volume(world, faults)
    for (const machine of this.machines)
      this.#places.set(
        machine,
        this.#newPlace(kind === 'shared folder' ? shared : new Volume(world, faults)),
      )
  }

  /** What a process sees of all this. */
  createOutside(process: Process): Pick<Outside, 'machine' | 'disk' | 'openGit'> {
    const { volume, refs } = this.#placeOf(process.machine)
    const remote = this.kind === 'git with remote' ? 'origin' : null
    return {
      machine: process.outside(),
      disk: volume.disk(process),
      openGit: async () => this.#git.repository(process, refs, remote),
    }
  }

  /**
   * Who holds the lock, by all that is true: a process's name, and the age of its last sign of
   * life, ms.
   */
  findLockHolder(): { name: string; signAge: number } | null {
    const state = this.#lockState()
    const data = state === null || state.text === '' ? null : (JSON.parse(state.text) as Json)
    if (state === null || data === null || !isObject(data) || typeof data['who'] !== 'string')
      return null
    return { name: data['who'], signAge: this.#world.time - state.madeAt }
  }

  /** The machine loses its power, and with it what its disk had not synced. */
  losePower(machine: Machine, chance: Chance): void {
    machine.switchOff()
    if (this.kind !== 'shared folder') this.#placeOf(machine).volume.losePower(chance)
  }

  /**
   * The machine's next run starts with nothing of its own, as in CI; only where another place has
   * the record.
   */
  forget(machine: Machine): void {
    if (this.kind !== 'git with remote' || machine.processes.size > 0) return
    this.#world.count('git: fresh clone')
    this.#places.set(machine, this.#newPlace(new Volume(this.#world, this.#faults)))
  }

  /** Somebody else writes to the same branch of the remote. */
  rivalPush(): void {
    if (this.kind === 'git with remote')
      this.#git.rivalPush(`refs/heads/${branch}`, 'elsewhere/file.json')
  }

  /** Whether what somebody else wrote is still there. */
  keepsRival(): boolean {
    return this.#git.keepsRival()
  }

  #newPlace(volume: Volume): Place {
    volume.prepare('/clone/.git')
    return { volume, refs: new Map() }
  }

  #placeOf(machine: Machine): Place {
    const place = this.#places.get(machine)
    if (place === undefined)
      throw new TypeError(`expected a machine of this world, got ${machine.name}`)
    return place
  }

  #lockState(): { text: string; madeAt: number } | null {
    const { volume, refs } = this.#placeOf(this.machines[0] as Machine)
    if (this.kind.startsWith('git')) {
      const commit = (this.kind === 'git' ? refs : this.#git.remote).get(
        `refs/edgewise/${this.#lock}`,
      )
      const text = commit === undefined ? undefined : this.#git.files(commit, 'text').get('text')
      return commit === undefined || text === undefined
        ? null
        : { text, madeAt: this.#git.madeAt(commit) }
    }
    const folder = `/${path}/${this.#lock}`
    const numbers = volume
      .list(folder)
      .map((name) => (name.endsWith('.json') ? Number.parseInt(name, 10) : 0))
    const file = `${folder}/${Math.max(0, ...numbers)}.json`
    const [text, madeAt] = [volume.read(file), volume.madeAt(file)]
    return text === null || madeAt === null ? null : { text, madeAt }
  }
}
