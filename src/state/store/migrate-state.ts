import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { loadKnownCalls } from './call-ledger.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { formatAddress } from '../format/address-file.ts'
import { formatCalls, mergeCalls, type Call } from '../format/calls.ts'
import { buildBudgetPath, buildStatePaths } from '../format/state-paths.ts'
import { refuseOwned } from './owners.ts'
import type { SharedFiles, StateFiles } from './state-files.ts'
import type { StateKey } from './store.ts'

/** Files that are copied in one step. */
const batch = 1000

/** The state of a workspace, and where it goes. The locks of both stores are held. */
export interface Migration {
  from: StateFiles
  to: StateFiles
  key: StateKey
  account: string
  /** Calls that count and are not in the files of the old store. */
  calls: Call[]
  /** Domains with state. */
  domains: Iterable<Domain>
  /** Names the new location, for whoever still uses the old one. */
  toLocation: string
  onCopied?: (done: number, total: number) => void
}

/** Numbers of files: of the state, and those that had to be copied now. */
export interface Migrated {
  files: number
  copied: number
  /** Whether the new store keeps another salt, with which recorded secrets count as changed. */
  hasOtherSalt: boolean
}

/**
 * Copies the state of a workspace to another store, compares the copy, and marks the state in the
 * old store as moved. The file with the service's address is copied last: without it a copy is not
 * complete, and a later migration replaces it.
 *
 * @throws EdgewiseError `usage` if the new store has other state of the workspace,
 *   `owned-elsewhere` if another workspace of it has a domain
 */
export async function migrateState(migration: Migration): Promise<Migrated> {
  const { from, to, key, account, calls, domains, toLocation, onCopied } = migration
  const paths = buildStatePaths(key)
  const wanted = await loadState(from, key)
  const present = await loadState(to, key)
  const there = await to.listPaths(paths.addresses)
  // State that was migrated from there is out of use.
  const isInUse = there.includes(paths.address) && !there.includes(paths.moved)
  const changes = compare(wanted, present)
  if (isInUse && changes.size > 0) throw createOccupiedError(key, to.location)
  const message = `Migrate the state of ${key.id}`
  const all = [...changes]
  for (let at = 0; at < all.length; at += batch) {
    await to.publish([new Map(all.slice(at, at + batch))], message, (files) =>
      refuseOwned(files, key, domains),
    )
    onCopied?.(Math.min(at + batch, all.length), all.length)
  }
  const { added, hasOther } = await findSalt(from, to, paths.salts)
  const about = new Map([
    [paths.address, formatAddress(key)],
    [paths.moved, null],
  ])
  await to.publish([added, about], message)
  await copyCalls(from, to, buildBudgetPath(key.address, account), calls)
  await to.share?.()
  to.refresh()
  if (compare(wanted, await loadState(to, key)).size > 0) throw createDifferentError(to.location)
  await from.publish([new Map([[paths.moved, formatAddress(key, toLocation)]])], message)
  return { files: wanted.size, copied: changes.size, hasOtherSalt: hasOther }
}

/** Loads the files of a state, without the file of its address. */
async function loadState(files: SharedFiles, key: StateKey): Promise<Map<string, string>> {
  const { home, doubts, trafficFolder, unlocks } = buildStatePaths(key)
  return files.load(home, doubts, trafficFolder, unlocks)
}

/** Lists the changes that lead from the present files to the wanted ones. */
function compare(wanted: Map<string, string>, present: Map<string, string>): FileChanges {
  const changes = new Map<string, string | null>()
  for (const path of present.keys()) if (!wanted.has(path)) changes.set(path, null)
  for (const [path, text] of wanted) if (present.get(path) !== text) changes.set(path, text)
  return changes
}

/** Finds the salt to copy: fingerprints of other workspaces depend on one that is there. */
async function findSalt(
  from: StateFiles,
  to: StateFiles,
  folder: string,
): Promise<{ added: FileChanges; hasOther: boolean }> {
  const [own, there] = [await from.load(folder), await to.load(folder)]
  if (there.size === 0) return { added: own, hasOther: false }
  const hasSame = [...own.keys()].every((path) => there.has(path))
  return { added: new Map(), hasOther: !hasSame }
}

/** Copies the calls that count against the call budget, beside those of other workspaces. */
async function copyCalls(
  from: StateFiles,
  to: StateFiles,
  path: string,
  more: Call[],
): Promise<void> {
  const [own, there] = [await loadKnownCalls(from, path, []), await loadKnownCalls(to, path, [])]
  const calls = [...own.calls, ...more]
  if (calls.length === 0) return
  await to.saveLocally(path, formatCalls(own.apply ?? '', mergeCalls(calls, there.calls)))
}

function createOccupiedError({ id }: StateKey, location: string): EdgewiseError {
  return new EdgewiseError(
    'usage',
    `${location} has other state of a workspace "${id}"; nothing was copied`,
    'Give one of the two workspaces another id in edgewise.yaml, or choose another place.',
  )
}

function createDifferentError(location: string): EdgewiseError {
  return new EdgewiseError(
    'record-moved',
    `the copy in ${location} differs from the state; the state here stays in use`,
    'Run the same command again when no other command changes the state there.',
  )
}
