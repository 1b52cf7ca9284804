import { parseJson } from '../model/json.ts'
import type { FileChanges } from './folder/write-file.ts'
import { formatAddress } from './format/address-file.ts'
import { formatCalls, mergeCalls, parseCalls } from './format/calls.ts'
import {
  buildAddressName,
  buildBudgetPath,
  buildBudgetPathAt,
  buildStatePaths,
  isStatePath,
} from './format/state-paths.ts'
import {
  createOldPathsView,
  isLive,
  movedFiles,
  type OldHome,
  type OldPathsView,
} from './old-paths.ts'
import type { LocalChanges, StateFiles } from './state-files.ts'
import type { StateKey } from './store.ts'

/** Does some work under the locks of earlier programs, by the names of the address in them. */
export type LockOld = (names: string[], work: () => Promise<void>) => Promise<void>

/** State files that find and move those at the paths of earlier programs. */
export interface MovableFiles extends StateFiles {
  /** Finds the names by which earlier programs lock state that is still at their paths. */
  findOldNames(): Promise<string[]>
  /** Sets how to lock them; from then on `moveOld` moves files. Null: no lock is in use. */
  allowMoves(lockOld: LockOld | null): void
}

/** Creates state files that include those at the paths of earlier programs. */
export function createMovableFiles(
  files: StateFiles,
  key: StateKey,
  account: string,
): MovableFiles {
  const { address } = key
  const [id = ''] = buildStatePaths(key).home.split('/')
  let view = createOldPathsView(files, address)
  let lock: LockOld | null = null
  const refresh = () => {
    files.refresh()
    view = createOldPathsView(files, address)
  }
  const findUnmoved = async () => (await view.findOldHomes(id)).filter(hasFiles)
  const findOldNames = async () => (await findUnmoved()).map(({ name }) => name)
  let dropped: LocalChanges | null = null
  /** Translates the paths of changes at old homes to those of this program. */
  const translate = async ({ paths, commit }: LocalChanges): Promise<LocalChanges> => {
    const homes = (await view.findOldHomes(id)).map(({ name }) => `${id}/${name}/`)
    const find = (path: string) => homes.find((home) => path.startsWith(home))
    return {
      paths: paths.map((path) => {
        const home = find(path)
        return home === undefined
          ? path
          : `${id}/${buildAddressName(address)}/${path.slice(home.length)}`
      }),
      commit,
    }
  }
  const move = async () => {
    refresh()
    const lost = await translate(await files.listDropped())
    const steps = await buildMoveSteps(files, view, key, await findUnmoved())
    await files.publish(steps, 'Move state to the path of the normalized service address')
    if (lost.commit !== null) dropped = lost
    refresh()
  }
  return {
    ...files,
    refresh,
    describePath: (path) => view.describePath(path),
    listPaths: (folder) => view.listPaths(folder),
    load: (folder) => view.load(folder),
    publish: (steps, message, guard) =>
      files.publish(
        steps,
        message,
        guard === undefined ? undefined : (shared) => guard(createOldPathsView(shared, address)),
      ),
    loadLocalAndShared: async (path) => {
      let found = await files.loadLocalAndShared(path)
      if (path !== buildBudgetPath(address, account)) return found
      for (const { name } of await view.findOldHomes(id)) {
        const old = await files.loadLocalAndShared(buildBudgetPathAt(name, account))
        found = {
          here: joinCalls(found.here, old.here),
          shared: joinCalls(found.shared, old.shared),
        }
      }
      return found
    },
    // A move drops them, too.
    listDropped: async () => {
      const found = dropped ?? (await translate(await files.listDropped()))
      dropped = null
      return found
    },
    listUnshared: async () => translate(await files.listUnshared()),
    findOldNames,
    allowMoves: (lockOld) => {
      lock = lockOld
    },
    moveOld: async () => {
      if (lock === null) return
      const names = await findOldNames()
      if (names.length > 0) await lock(names, move)
    },
  }
}

/** Tests whether an old home has files to move, or files that an interrupted move has left. */
function hasFiles({ isMoved, paths, doubts }: OldHome): boolean {
  return !isMoved || paths.length + doubts.length > 0
}

/**
 * Builds the file changes that move old homes, in this order: copies, the address, the files that
 * make earlier programs refuse, the removal. The old files count until the last of the files that
 * make earlier programs refuse exists, so that a move can be interrupted and repeated.
 */
async function buildMoveSteps(
  files: StateFiles,
  view: OldPathsView,
  key: StateKey,
  homes: OldHome[],
): Promise<FileChanges[]> {
  const paths = buildStatePaths(key)
  const [id = ''] = paths.home.split('/')
  const state = selectState(await view.load(paths.home))
  const texts = new Map([...state, ...(await view.load(paths.doubts))])
  const stored = selectState(await files.load(paths.home))
  const isComplete = await isLive(files, id, key.address)
  const left = isComplete ? [] : [...stored.keys()].filter((path) => !texts.has(path))
  const copies = [...texts].filter(([path, text]) => stored.get(path) !== text)
  const marks = homes.map(({ name }) =>
    Array.from(movedFiles, ([path, text]): [string, string] => [`${id}/${name}/${path}`, text]),
  )
  return [
    new Map(left.map((path) => [path, null])),
    new Map(copies),
    new Map([[paths.address, formatAddress(key)]]),
    ...[...movedFiles.keys()].map(
      (_path, i) => new Map(marks.flatMap((each) => each.slice(i, i + 1))),
    ),
    new Map(homes.flatMap((home) => [...home.paths, ...home.doubts]).map((path) => [path, null])),
  ]
}

function selectState(texts: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...texts].filter(([path]) => isStatePath(path)))
}

/** Joins the calls of two programs; `apply` is that of the first. */
function joinCalls(text: string | null, old: string | null): string | null {
  if (text === null || old === null) return text ?? old
  const [calls, others] = [parseCalls(parseJson(text)), parseCalls(parseJson(old))]
  return formatCalls(calls.apply, mergeCalls(calls.calls, others.calls))
}
