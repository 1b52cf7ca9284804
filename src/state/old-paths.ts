import { parseAddress } from './format/address-file.ts'
import {
  buildAddressName,
  buildOldAddressName,
  buildStatePathsIn,
  isOldAddressName,
  isStatePath,
} from './format/state-paths.ts'
import { joinOldFile } from './join-old-file.ts'
import type { SharedFiles } from './state-files.ts'

/** Files of a workspace's state at the path of an earlier program, which used another name. */
export interface OldHome {
  /** Name of the address in the paths. */
  name: string
  /** Whether its files are at the path of this program now: those that are left don't count. */
  isMoved: boolean
  /** Paths of its files that don't count any more, or are to be moved. */
  paths: string[]
  /** Paths of its doubt marks, which a program may add later. */
  doubts: string[]
}

/** Files in which those at the paths of earlier programs appear at those of this program. */
export interface OldPathsView extends SharedFiles {
  /** Finds the old homes of a workspace's state at the address. */
  findOldHomes(id: string): Promise<OldHome[]>
}

/** Files that make earlier programs refuse an old home, relative to it; the last one decides. */
export const movedFiles = new Map([
  ['waves/moved/1.json', '{"format":"edgewise.wave/1000"}\n'],
  ['journal/moved.json', '{"format":"edgewise.journal/1000"}\n'],
  ['open/moved.json', '{"format":"edgewise.open/1000","apply":"moved"}\n'],
])

/** Tests whether a path in a home belongs to a file that marks the home as moved. */
export function isMovedFile(home: string, path: string): boolean {
  return path.startsWith(`${home}/`) && movedFiles.has(path.slice(home.length + 1))
}

/** Creates a view of the files of all workspaces at an address; it keeps what it has found. */
export function createOldPathsView(files: SharedFiles, address: string): OldPathsView {
  const name = buildAddressName(address)
  const homes = new Map<string, Promise<OldHome[]>>()
  const origins = new Map<string, string>()
  const findOldHomes = (id: string) => {
    const found = homes.get(id) ?? findHomes(files, id, address)
    homes.set(id, found)
    return found
  }
  /** Finds the folders whose files appear in a folder: its own first, then those at old paths. */
  const findSources = async (folder: string): Promise<string[]> => {
    const [id = '', second = '', third] = folder.split('/')
    const isHome = second === name
    if (!isHome && !(second === 'doubts' && third === name)) return [folder]
    const found = await findOldHomes(id)
    const old = isHome ? found.filter(({ isMoved }) => !isMoved) : found
    if (old.length === 0) return [folder]
    const rest = folder.split('/').slice(isHome ? 2 : 3)
    const prefix = isHome ? [id] : [id, 'doubts']
    const translated = old.map((home) => [...prefix, home.name, ...rest].join('/'))
    // A new home without its address file is the rest of an interrupted move: it does not count.
    const isComplete = !isHome || (await isLive(files, id, address))
    return isComplete ? [folder, ...translated] : translated
  }
  /** Translates the path of a file in a source; null for a file that marks it as moved. */
  const translate = (folder: string, source: string, path: string): string | null => {
    const translated = folder + path.slice(source.length)
    const home = translated.split('/').slice(0, 2).join('/')
    return source !== folder && isMovedFile(home, translated) ? null : translated
  }
  return {
    describePath: (path) => files.describePath(origins.get(path) ?? path),
    listTopFolders: () => files.listTopFolders(),
    listPaths: async (folder) => {
      const sources = await findSources(folder)
      if (sources.length === 1 && sources[0] === folder) return files.listPaths(folder)
      const paths = new Set<string>()
      for (const source of sources)
        for (const path of await files.listPaths(source)) {
          const translated = translate(folder, source, path)
          if (translated !== null) paths.add(translated)
        }
      return [...paths]
    },
    load: async (folder) => {
      const sources = await findSources(folder)
      if (sources.length === 1 && sources[0] === folder) return files.load(folder)
      const texts = new Map<string, string>()
      for (const source of sources)
        for (const [path, text] of await files.load(source)) {
          const translated = translate(folder, source, path)
          if (translated === null) continue
          const place = files.describePath(path)
          texts.set(translated, joinOldFile(translated, texts.get(translated), { place, text }))
          origins.set(translated, path)
        }
      return texts
    },
    findOldHomes,
  }
}

/** Tests whether a workspace has state at the path of this program. */
export async function isLive(files: SharedFiles, id: string, address: string): Promise<boolean> {
  const paths = buildStatePathsIn(id, address)
  return (await files.listPaths(paths.addresses)).includes(paths.address)
}

async function findHomes(files: SharedFiles, id: string, address: string): Promise<OldHome[]> {
  const homes: OldHome[] = []
  if (!isOldAddressName(buildOldAddressName(address))) return homes
  for (const name of await findOldNames(files, id, address)) {
    const home = `${id}/${name}`
    const paths = await files.listPaths(home)
    const [decisive = ''] = [...movedFiles.keys()].slice(-1)
    homes.push({
      name,
      isMoved: paths.includes(`${home}/${decisive}`),
      paths: paths.filter((path) => isStatePath(path) && !isMovedFile(home, path)),
      doubts: await files.listPaths(`${id}/doubts/${name}`),
    })
  }
  return homes
}

/** Finds the names by which earlier programs stored state of a workspace at an address. */
async function findOldNames(files: SharedFiles, id: string, address: string): Promise<string[]> {
  const folder = `${id}/addresses`
  const getName = (path: string) => path.slice(folder.length + 1).replace(/\.json$/, '')
  const old = (await files.listPaths(folder)).map(getName).filter(isOldAddressName)
  if (old.length === 0) return []
  const own = buildAddressName(address)
  const texts = await files.load(folder)
  return old.filter((name) => {
    if (name === buildOldAddressName(address)) return true
    const stored = parseAddress(texts.get(`${folder}/${name}.json`) ?? '')
    return stored !== null && buildAddressName(stored.address) === own
  })
}
