import { EdgewiseError } from '../../../src/core/model/edgewise-error.ts'
import type { Snapshot } from '../../../src/core/model/item.ts'
import { holdCommits, type Branch } from '../../../src/server/branch/branch.ts'
import type { Process } from '../machine.ts'

/** Older commits are forgotten: none of them has an open rollout. */
const maxCommits = 20

/** Remote repository of a simulation: commits of one branch, with what they ask for. */
export class Repository {
  readonly #commits = new Map<number, Snapshot>()
  #tip = 0
  #isAway = false

  /** Adds a commit at the tip of the branch. */
  push(desired: Snapshot): void {
    this.#commits.set(++this.#tip, desired)
    this.#commits.delete(this.#tip - maxCommits)
  }

  /** What the tip asks for. */
  get desired(): Snapshot {
    return this.read(this.#nameTip())
  }

  setAway(isAway: boolean): void {
    this.#isAway = isAway
  }

  /** What a commit asks for. */
  read(commit: string): Snapshot {
    const desired = this.#commits.get(Number.parseInt(commit, 16))
    if (desired === undefined) throw new TypeError(`expected a commit, got ${commit}`)
    return desired
  }

  /** Opens the branch in a process. */
  open(process: Process): Branch {
    const contact = <T>(what: string, act: () => T) =>
      process.step(process.chance.between(50, 2000), what, () => {
        if (this.#isAway)
          throw new EdgewiseError('unavailable', `git can't ${what}: the remote is away`, '')
        return act()
      })
    return holdCommits({
      location: 'https://git/repository',
      name: 'main',
      fetch: () => contact('fetch', () => this.#nameTip()),
      checkOut: (commit) => process.step(1, 'checks out', () => `/${commit}`),
      keepOnly: () => process.step(1, 'removes folders', () => undefined),
      isAncestor: async (ancestor, commit) => ancestor <= commit,
      listHistory: async (commit) => [commit],
      findAuthors: async () => new Set(),
      close: async () => undefined,
    })
  }

  #nameTip(): string {
    return this.#tip.toString(16).padStart(40, '0')
  }
}
