import type { Disk } from '../../src/state/folder/disk.ts'
import type { Chance } from './chance.ts'
import type { Faults } from './faults.ts'
import type { Process } from './machine.ts'
import type { World } from './world.ts'

interface File {
  kind: 'file'
  text: string
  /** True time, ms. */
  madeAt: number
  /** What a failure of the power leaves of it for sure. */
  durable: string
}

interface Folder {
  kind: 'folder'
  names: Map<string, Node>
  durable: Map<string, Node>
}

type Node = File | Folder

/**
 * A file system that keeps what processes did until the power fails. Then a file's text is what was
 * synced, what was written, or a torn part of it; and each name in a folder is as it was when the
 * folder was synced, or as it was left.
 */
export class Volume {
  readonly #world: World
  readonly #root: Folder
  readonly #faults: Faults

  constructor(world: World, faults: Faults) {
    this.#world = world
    this.#root = newFolder()
    this.#faults = faults
  }

  /**
   * The volume as a process sees it: each operation takes a moment, may fail, and may be the last
   * thing that the process does.
   */
  disk(process: Process): Disk {
    const step = async <T>(
      what: string,
      path: string,
      act: () => T,
      partly?: () => void,
    ): Promise<T> => {
      const ms = process.chance.happens(0.02)
        ? process.chance.between(1, 1500)
        : process.chance.between(0, 2)
      const fails = process.chance.happens(this.#faults.diskError)
      return process.step(
        ms,
        `${what} ${path}`,
        () => {
          if (fails) {
            this.#world.count('disk: error')
            process.log(`can't ${what} ${path}`)
            throw Object.assign(new Error(`EIO: i/o error, ${what} ${path} (simulated)`), {
              code: 'EIO',
            })
          }
          return act()
        },
        partly,
      )
    }
    const part = (text: string) => text.slice(0, process.chance.between(0, text.length))
    return {
      read: (path) => step('read', path, () => this.read(path)),
      list: (folder) => step('list', folder, () => this.list(folder)),
      exists: (path) => step('look for', path, () => this.#at(path) !== null),
      makeFolder: (path) => step('make folder', path, () => this.#add(path, newFolder())),
      create: (path, text) =>
        step(
          'create',
          path,
          () => this.#add(path, newFile(text, this.#world.time)),
          () => this.#add(path, newFile(part(text), this.#world.time)),
        ),
      sync: (path) => step('sync', path, () => sync(this.#known(path))),
      link: (from, to) =>
        step('link', to, () => {
          process.log(`puts ${to}`)
          return this.#add(to, this.#known(from))
        }),
      rename: (from, to) =>
        step('rename', to, () => {
          process.log(`puts ${to}`)
          this.#rename(from, to)
        }),
      remove: (path) =>
        step('remove', path, () => void this.#parent(path)?.names.delete(nameOf(path))),
    }
  }

  read(path: string): string | null {
    const node = this.#at(path)
    if (node?.kind === 'folder')
      throw Object.assign(new Error(`EISDIR: ${path} is a folder`), { code: 'EISDIR' })
    return node?.text ?? null
  }

  /** When a file was made, true time, ms; null where there is none. */
  madeAt(path: string): number | null {
    const node = this.#at(path)
    return node?.kind === 'file' ? node.madeAt : null
  }

  list(path: string): string[] {
    const node = this.#at(path)
    return node?.kind === 'folder' ? [...node.names.keys()] : []
  }

  /** Folders that were there before anything began. */
  prepare(path: string): void {
    let folder = this.#root
    for (const name of path.split('/').filter((part) => part !== '')) {
      const below = folder.names.get(name) ?? newFolder()
      folder.names.set(name, below)
      folder.durable.set(name, below)
      if (below.kind === 'folder') folder = below
    }
  }

  /** The power fails: what was not synced may be lost. */
  losePower(chance: Chance): void {
    lose(this.#root, chance, (what) => this.#world.count(`disk: ${what}`))
  }

  #add(path: string, node: Node): boolean {
    const parent = this.#parent(path)
    if (parent === null) throw missing(path)
    if (parent.names.has(nameOf(path))) return false
    parent.names.set(nameOf(path), node)
    return true
  }

  #rename(from: string, to: string): void {
    const node = this.#known(from)
    const target = this.#parent(to)
    if (target === null) throw missing(to)
    this.#parent(from)?.names.delete(nameOf(from))
    target.names.set(nameOf(to), node)
  }

  #known(path: string): Node {
    const node = this.#at(path)
    if (node === null) throw missing(path)
    return node
  }

  #at(path: string): Node | null {
    let node: Node | undefined = this.#root
    for (const name of path.split('/')) {
      if (name === '') continue
      if (node?.kind !== 'folder') return null
      node = node.names.get(name)
    }
    return node ?? null
  }

  #parent(path: string): Folder | null {
    const parent = this.#at(path.slice(0, path.lastIndexOf('/')))
    return parent?.kind === 'folder' ? parent : null
  }
}

function newFile(text: string, madeAt: number): File {
  return { kind: 'file', text, madeAt, durable: '' }
}

function newFolder(): Folder {
  return { kind: 'folder', names: new Map(), durable: new Map() }
}

function sync(node: Node): void {
  if (node.kind === 'file') node.durable = node.text
  else node.durable = new Map(node.names)
}

function lose(node: Node, chance: Chance, tell: (what: string) => void): void {
  if (node.kind === 'file') {
    if (node.text === node.durable) return
    tell('text not synced, power failed')
    node.text = chance.pick([
      node.durable,
      node.text,
      node.text.slice(0, chance.between(0, node.text.length)),
    ])
    node.durable = node.text
    return
  }
  for (const name of new Set([...node.names.keys(), ...node.durable.keys()])) {
    const [left, kept] = [node.names.get(name), node.durable.get(name)]
    if (left === kept) continue
    tell('name not synced, power failed')
    const stays = chance.happens(0.5) ? left : kept
    if (stays === undefined) node.names.delete(name)
    else node.names.set(name, stays)
  }
  node.durable = new Map(node.names)
  for (const below of node.names.values()) lose(below, chance, tell)
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, ${path}`), { code: 'ENOENT' })
}
