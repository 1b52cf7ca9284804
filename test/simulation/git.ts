import { createHash } from 'node:crypto'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Changes, GitRepository } from '../../src/state/git/git-repository.ts'
import type { Chance } from './chance.ts'
import type { Faults } from './faults.ts'
import type { Process } from './machine.ts'
import type { World } from './world.ts'

interface Commit {
  /** True time, ms. */
  madeAt: number
  parent: string | null
  files: ReadonlyMap<string, string>
}

type Refs = Map<string, string>

/** All commits that there are, and the remote's refs. A clone has refs of its own. */
export class Git {
  readonly #world: World
  readonly #commits = new Map<string, Commit>()
  /** Contents by id: a file at the empty path, or the files of a folder. */
  readonly #contents = new Map<string, Map<string, string>>()
  readonly remote: Refs = new Map()
  readonly #faults: Faults
  /** Last push of another writer. */
  #rival: { ref: string; path: string; text: string } | null = null

  constructor(world: World, faults: Faults) {
    this.#world = world
    this.#faults = faults
  }

  /**
   * Returns a repository as a process sees it: each operation takes time, may fail, and may be the
   * last one of the process.
   */
  repository(process: Process, clone: Refs, remote: string | null): GitRepository {
    const runLocally = <T>(what: string, act: () => T) =>
      process.step(process.chance.between(1, 20), `git ${what}`, act)
    const shared = remote === null ? clone : this.remote
    return {
      commonFolder: '/clone/.git',
      remote,
      findTip: (ref) => runLocally(`tip ${ref}`, () => clone.get(ref) ?? null),
      findTips: (refs) => runLocally('tips', () => refs.map((ref) => clone.get(ref) ?? null)),
      refuseCheckedOut: () => Promise.resolve(),
      findMergeBase: (one, other) => runLocally('base', () => this.#findMergeBase(one, other)),
      loadFiles: (commit, ...paths) =>
        runLocally(
          `files ${paths.join(' ')}`,
          () => new Map(paths.flatMap((path) => [...this.files(commit, path)])),
        ),
      listTopFolders: (commit) =>
        runLocally('top folders', () => {
          const names = [...this.#getCommit(commit).files.keys()]
          return [...new Set(names.flatMap((name) => name.split('/').slice(0, -1).slice(0, 1)))]
        }),
      listPaths: (commit, path) =>
        runLocally(`paths ${path}`, () => [...this.files(commit, path).keys()]),
      findId: (commit, path) => runLocally(`id of ${path}`, () => this.#findId(commit, path)),
      commit: (parent, changes, message) =>
        runLocally('commit', () => {
          const id = this.#commit(
            parent,
            changes,
            `${message} at ${Math.floor(process.clock.now() / 1000)}`,
          )
          process.log(
            `commits ${id.slice(0, 7)} on ${parent?.slice(0, 7) ?? 'nothing'}: ` +
              (message.split('\n')[0] ?? ''),
          )
          return id
        }),
      move: (ref, from, to) => runLocally(`move ${ref}`, () => swap(clone, ref, from, to)),
      fetch: (ref) => this.#overNetwork(process, `fetches ${ref}`, () => shared.get(ref) ?? null),
      push: (ref, from, to) =>
        this.#overNetwork(process, `pushes ${to?.slice(0, 7) ?? 'nothing'} to ${ref}`, () => {
          const swapped = swap(shared, ref, from, to)
          if (!swapped) this.#world.count('git: lost race')
          process.log(
            `${swapped ? 'moved' : 'did not move'} ${ref} of the remote ` +
              `to ${to?.slice(0, 7) ?? 'nothing'}`,
          )
          return swapped
        }),
    }
  }

  /** Pushes to a branch of the remote as another writer, at paths of its own. */
  rivalPush(ref: string, path: string): void {
    this.#rival = { ref, path, text: `${this.#world.time}` }
    const files = new Map([
      ['README.md', '# A record of Edgewise\n'],
      [path, this.#rival.text],
    ])
    const id = this.#commit(this.remote.get(ref) ?? null, files, 'Somebody else')
    this.remote.set(ref, id)
    this.#world.count('git: rival push')
    this.#world.log('rival', `pushes ${id.slice(0, 7)} to ${ref}`)
  }

  /** Returns whether the last push of the other writer is kept. */
  keepsRival(): boolean {
    if (this.#rival === null) return true
    const { ref, path, text } = this.#rival
    const tip = this.remote.get(ref)
    return tip !== undefined && this.files(tip, path).get(path) === text
  }

  /**
   * Sets a branch of the remote back to an earlier commit than each of some commits, or deletes it.
   * Returns its former commit, or null if there is no earlier one.
   */
  rewind(ref: string, seen: string[], chance: Chance): string | null {
    const newest = this.remote.get(ref) ?? null
    const common = seen.reduce(
      (oldest: string | null, commit) =>
        oldest === null ? null : this.#findMergeBase(oldest, commit),
      newest,
    )
    const earlier: string[] = []
    for (
      let commit = common === null ? null : this.#getCommit(common).parent;
      commit !== null;
      commit = this.#getCommit(commit).parent
    )
      earlier.push(commit)
    if (earlier.length === 0) return null
    const target = chance.happens(0.2) ? null : chance.pick(earlier.slice(0, 20))
    if (target === null) this.remote.delete(ref)
    else this.remote.set(ref, target)
    this.#world.log('remote', `sets ${ref} back to ${target?.slice(0, 7) ?? 'nothing'}`)
    return newest
  }

  /** Returns when a commit was made, true time, ms. */
  madeAt(commit: string): number {
    return this.#getCommit(commit).madeAt
  }

  /** Texts of all files. */
  allFiles(commit: string): ReadonlyMap<string, string> {
    return this.#getCommit(commit).files
  }

  /** Texts of a file, or of all files in a folder. */
  files(commit: string, path: string): Map<string, string> {
    const found = new Map<string, string>()
    const below = `${path}/`
    for (const [name, text] of this.#getCommit(commit).files)
      if (name === path || name.startsWith(below)) found.set(name, text)
    return found
  }

  /** Text of one file; undefined if there is none. */
  read(commit: string, path: string): string | undefined {
    return this.#getCommit(commit).files.get(path)
  }

  async #overNetwork<T>(process: Process, what: string, act: () => T): Promise<T> {
    const { chance } = process
    const slow = chance.happens(this.#faults.remoteSlow)
    const cutOff = process.machine.cutOffUntil > this.#world.time
    const fails = cutOff || chance.happens(this.#faults.remoteError)
    const after = !cutOff && fails && chance.happens(0.5)
    if (slow) this.#world.count('git: slow')
    const drawDelay = () => (slow ? chance.between(1, 40_000) : chance.between(20, 400))
    const unreachable = () => {
      this.#world.count(after ? 'git: answer lost' : 'git: unreachable')
      process.log(`${what}: no answer${after ? ', though it was done' : ''}`)
      throw new EdgewiseError('record-unreachable', `${what}: no answer (simulated)`)
    }
    // A push in flight is completed even if the process dies meanwhile.
    const done = new Promise<T | null>((resolve) => {
      if (fails && !after) return resolve(null)
      if (!process.alive || process.mayDie(`before: ${what}`)) return
      this.#world.after(drawDelay(), () => resolve(act()))
    })
    const result = await done
    return process.step(drawDelay(), what, () => (fails ? unreachable() : (result as T)))
  }

  #findMergeBase(one: string, other: string): string | null {
    const history = new Set<string>()
    for (let commit: string | null = one; commit !== null; commit = this.#getCommit(commit).parent)
      history.add(commit)
    for (
      let commit: string | null = other;
      commit !== null;
      commit = this.#getCommit(commit).parent
    )
      if (history.has(commit)) return commit
    return null
  }

  #commit(parent: string | null, changes: Changes, message: string): string {
    const files = new Map(parent === null ? [] : this.#getCommit(parent).files)
    for (const [path, change] of changes) {
      const below = `${path}/`
      for (const name of files.keys())
        if (name === path || name.startsWith(below)) files.delete(name)
      if (typeof change === 'string') files.set(path, change)
      else if (change !== null)
        for (const [rest, text] of this.#contents.get(change.id) ?? [])
          files.set(`${path}${rest}`, text)
    }
    const changed = [...changes].map(
      ([name, change]) => `${name} ${typeof change === 'string' ? change : change?.id}`,
    )
    const id = hash([parent ?? '', message, ...changed])
    this.#commits.set(id, { madeAt: this.#world.time, parent, files })
    return id
  }

  #findId(commit: string, path: string): string | null {
    const contents = new Map(
      [...this.files(commit, path)].map(([name, text]) => [name.slice(path.length), text]),
    )
    if (contents.size === 0) return null
    const id = hash([...contents].toSorted(byName).flat())
    this.#contents.set(id, contents)
    return id
  }

  #getCommit(id: string): Commit {
    const commit = this.#commits.get(id)
    if (commit === undefined) throw new Error(`expected a commit that is there, got ${id}`)
    return commit
  }
}

function swap(refs: Refs, ref: string, from: string | null, to: string | null): boolean {
  if ((refs.get(ref) ?? null) !== from) return false
  if (to === null) refs.delete(ref)
  else refs.set(ref, to)
  return true
}

function byName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1
}

function hash(texts: string[]): string {
  const sum = createHash('sha1')
  for (const text of texts) sum.update(`${text.length} ${text}`)
  return sum.digest('hex')
}
