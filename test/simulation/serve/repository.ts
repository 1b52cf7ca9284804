import { EdgewiseError } from '../../../src/core/model/edgewise-error.ts'
import type { Snapshot } from '../../../src/core/model/item.ts'
import type { SourceTree } from '../../../src/core/model/source-tree.ts'
import type { WorkspaceConfig } from '../../../src/manifest/workspace-file/workspace.ts'
import { holdCommits, type Branch } from '../../../src/server/branch/branch.ts'
import type { Machine, Process } from '../machine.ts'

/** Older commits are forgotten: none of them has an open rollout. */
const maxCommits = 20

/** What a commit has beside the domains. */
export interface CommitAbout {
  /** Absent: not known. */
  committed?: SourceTree['committed']
  /** What its workspace file has otherwise than that of the simulation. */
  config?: Partial<WorkspaceConfig>
}

/** Remote repository of a simulation: commits of one branch, with what they ask for. */
export class Repository {
  /** Machines that can't reach it. */
  readonly cutOff = new Set<Machine>()
  readonly #commits = new Map<number, CommitAbout & { desired: Snapshot }>()
  #tip = 0
  #isAway = false

  /** Adds a commit at the tip of the branch. */
  push(desired: Snapshot, about: CommitAbout = {}): void {
    this.#commits.set(++this.#tip, { ...about, desired })
    this.#commits.delete(this.#tip - maxCommits)
  }

  /** What the tip asks for. */
  get desired(): Snapshot {
    return this.read(this.tip).desired
  }

  /** The commit at the tip. */
  get tip(): string {
    return nameCommit(this.#tip)
  }

  setAway(isAway: boolean): void {
    this.#isAway = isAway
  }

  /** What a commit asks for, and what is known of it. */
  read(commit: string): CommitAbout & { desired: Snapshot } {
    const found = this.#commits.get(parseNumber(commit))
    if (found === undefined) throw new TypeError(`expected a commit, got ${commit}`)
    return found
  }

  /** Opens the branch in a process. */
  open(process: Process): Branch {
    const contact = <T>(what: string, act: () => T) =>
      process.step(process.chance.between(50, 2000), what, () => {
        if (this.#isAway || this.cutOff.has(process.machine))
          throw new EdgewiseError('unavailable', `git can't ${what}: the remote is away`, '')
        return act()
      })
    return holdCommits({
      location: 'https://git/repository',
      name: 'main',
      fetch: () => contact('fetch', () => nameCommit(this.#tip)),
      checkOut: (commit) => process.step(1, 'checks out', () => `/${commit}`),
      keepOnly: () => process.step(1, 'removes folders', () => undefined),
      isAncestor: async (ancestor, commit) => ancestor <= commit,
      listHistory: async (commit, max) => {
        const newest = parseNumber(commit)
        const all = [...this.#commits.keys()].filter((each) => each <= newest)
        return all.slice(-max).toReversed().map(nameCommit)
      },
      findAuthors: async () => new Set(),
      close: async () => undefined,
    })
  }
}

function nameCommit(number: number): string {
  return number.toString(16).padStart(8, '0').padEnd(40, '0')
}

function parseNumber(commit: string): number {
  return Number.parseInt(commit.slice(0, 8), 16)
}
