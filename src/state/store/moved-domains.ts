import type { DomainMove } from '../../core/model/config.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { formatDomainFile } from '../format/domain-file.ts'
import { formatRollout } from '../format/rollout-file.ts'
import type { StatePaths } from '../format/state-paths.ts'
import { loadRollouts } from './load-files.ts'
import { loadEntries } from './load-journal.ts'
import type { SharedFiles, StateFiles } from './state-files.ts'
import type { Moves, RecordedState } from './store.ts'
import { movedFile } from '../../core/model/generated/state-validators.ts'
import type { MovedFile } from '../../core/model/generated/state-types.ts'
import { parseFile } from '../format/parse-file.ts'

/**
 * Finds which moves change a state. State at both names is that of an interrupted move if it is
 * equal and the move is recorded.
 */
export async function findMoves(
  moves: DomainMove[],
  recorded: RecordedState,
  loadRecorded: () => Promise<RecordedMove[]>,
): Promise<Moves> {
  const old = moves.filter(({ from }) => recorded.has(from))
  const both = old.filter(({ to }) => recorded.has(to))
  const name = ({ from, to }: DomainMove) => `${from} ${to}`
  const done = new Set((both.length === 0 ? [] : await loadRecorded()).map(name))
  const conflicts = ({ from, to }: DomainMove): boolean => {
    const [own, other] = [recorded.get(from), recorded.get(to)]
    const format = (items = own) => formatDomainFile(to, items ?? new Map())
    return !done.has(name({ from, to })) || format(own) !== format(other)
  }
  const conflicting = new Set(both.filter(conflicts))
  return { pending: old.filter((move) => !conflicting.has(move)), conflicting: [...conflicting] }
}

/** Hands the state of each old name over to the new one, in memory. */
export function moveRecorded(moves: DomainMove[], recorded: RecordedState): void {
  for (const { from, to } of moves) {
    const items = recorded.get(from)
    if (items === undefined) continue
    recorded.delete(from)
    recorded.set(to, items)
  }
}

/** Renames the domains of a rollout that has ended: what is on hold stays so. */
export function moveRollout(moves: DomainMove[], rollout: Rollout): Rollout {
  const names = new Map(moves.map(({ from, to }) => [from, to]))
  const getName = (domain: Domain) => names.get(domain) ?? domain
  const rename = <T>(values: Record<Domain, T>): Record<Domain, T> =>
    Object.fromEntries(Object.entries(values).map(([domain, each]) => [getName(domain), each]))
  return {
    ...rollout,
    desiredHashes: rename(rollout.desiredHashes),
    values: rename(rollout.values),
    onHold: rename(rollout.onHold),
    waves: rollout.waves.map((wave) => ({ ...wave, domains: wave.domains.map(getName) })),
    released: rollout.released.map(getName),
  }
}

/**
 * Builds the file changes that record moves: the new files exist before the old ones are gone.
 *
 * @param recorded state after the moves
 * @param at time of the moves, ISO 8601
 */
export async function buildMoves(
  files: StateFiles,
  paths: StatePaths,
  moves: DomainMove[],
  recorded: RecordedState,
  at: string,
): Promise<FileChanges[]> {
  const earlier = groupBy(await loadMoves(files, paths), ({ to }) => to)
  const rollouts = (await loadRollouts(files, paths.rollouts)).filter(({ desiredHashes, onHold }) =>
    moves.some(({ from }) => Object.hasOwn(desiredHashes, from) || Object.hasOwn(onHold, from)),
  )
  return [
    new Map([
      ...moves.map((move): [string, string] => [
        paths.move(move.to),
        formatMoved([...(earlier.get(move.to) ?? []), { ...move, at }]),
      ]),
      ...rollouts.map((each): [string, string] => [
        paths.rollout(each.id),
        formatRollout(moveRollout(moves, each)),
      ]),
      ...moves.map(({ to }): [string, string] => [
        paths.domain(to),
        formatDomainFile(to, recorded.get(to) ?? new Map()),
      ]),
    ]),
    new Map(moves.map(({ from }) => [paths.domain(from), null])),
  ]
}

/** Loads the recorded moves, first to last. */
export async function loadMoves(files: SharedFiles, paths: StatePaths): Promise<RecordedMove[]> {
  const texts = [...(await files.load(paths.moves))]
  const moves = texts.flatMap(
    ([path, text]) => parseFile(files.describePath(path), text, 'moved', movedFile).moved,
  )
  return moves.toSorted((a, b) => (a.at < b.at ? -1 : 1))
}

/** Lists the names that a domain has had, the present one last, each with the end of its time. */
export function listNames(
  domain: Domain,
  moves: RecordedMove[],
): { name: Domain; until: string | null }[] {
  const names: { name: Domain; until: string | null }[] = [{ name: domain, until: null }]
  for (const { from, to, at } of moves.toReversed())
    if (to === names[0]?.name) names.unshift({ name: from, until: at })
  return names
}

/** Finds the present name of a domain that had this one at a time. */
function findPresentName(domain: Domain, time: string, moves: RecordedMove[]): Domain {
  return moves.reduce((name, { from, to, at }) => (from === name && time < at ? to : name), domain)
}

/** Gives the domains of an apply their present names. */
export type Renaming = (apply: string) => <T>(domains: ReadonlyMap<Domain, T>) => Map<Domain, T>

/** Creates a function that gives the domains of an apply their present names. */
export async function createRenaming(files: StateFiles, paths: StatePaths): Promise<Renaming> {
  const moves = await loadMoves(files, paths)
  const entries = moves.length === 0 ? [] : await loadEntries(files, paths)
  const starts = new Map(entries.map(({ id, startedAt }) => [id, startedAt]))
  return (apply) => (domains) => {
    const start = starts.get(apply)
    if (start === undefined) return new Map(domains)
    const all = Array.from(domains, ([name, value]) => ({
      isRenamed: findPresentName(name, start, moves) !== name,
      entry: [findPresentName(name, start, moves), value] as const,
    }))
    // The new name may have been that of another domain before: that of the renamed one counts.
    const last = all.toSorted((a, b) => Number(a.isRenamed) - Number(b.isRenamed))
    return new Map(last.map(({ entry }) => entry))
  }
}

/** A recorded move of a domain to another name, at a time, ISO 8601. */
export type RecordedMove = MovedFile['moved'][number]

/** Formats the file of a domain that had other names: one line for each. */
export function formatMoved(moved: RecordedMove[]): string {
  const lines = moved.map((move) => `\n    ${JSON.stringify(move)}`)
  return `{\n  "format": "${movedFile.name}",\n  "moved": [${lines.join(',')}\n  ]\n}\n`
}
