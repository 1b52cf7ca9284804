import type { Disk, Fence } from '../../src/state/folder/disk.ts'
import type { Chance } from './chance.ts'
import type { Faults } from './faults.ts'
import type { Process } from './machine.ts'
import type { World } from './world.ts'

interface File {
  kind: 'file'
  text: string
  /** True time, ms. */
  madeAt: number
  /** Content that survives a power failure for certain. */
  durable: string
}

interface Folder {
  kind: 'folder'
  names: Map<string, Node>
  durable: Map<string, Node>
}

type Node = File | Folder

/**
 * File system that keeps all changes until the power fails. Then the content of a file is its
 * synced content, its written content, or a torn part of it; and each name in a folder is as of the
 * last sync of the folder, or as of the last change.
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
   * Returns the volume as a process sees it: each operation takes time, may fail, and may be the
   * last one of the process.
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
      append: (path, text, fence) =>
        step(
          'append to',
          path,
          () => this.#append(path, text, fence),
          () => this.#append(path, part(text), fence),
        ),
      sync: (path) => step('sync', path, () => sync(this.#known(path))),
      syncIfThere: (path) =>
        step('sync', path, () => {
          const node = this.#at(path)
          if (node !== null) sync(node)
          return node !== null
        }),
      syncAll: (folder) => step('sync all', folder, () => this.#syncAll(folder)),
      link: (from, to) =>
        step('link', to, () => {
          process.log(`puts ${to}`)
          return this.#add(to, this.#known(from))
        }),
      rename: (from, to, fence) =>
        step('rename', to, () => {
          if (fence !== undefined && !fence.isIntact(this.list(fence.folder))) return false
          process.log(`puts ${to}`)
          this.#rename(from, to)
          return true
        }),
      remove: (path, fence) =>
        step('remove', path, () => {
          if (fence !== undefined && !fence.isIntact(this.list(fence.folder))) return false
          this.#parent(path)?.names.delete(getName(path))
          return true
        }),
    }
  }

  read(path: string): string | null {
    const node = this.#at(path)
    if (node?.kind === 'folder')
      throw Object.assign(new Error(`EISDIR: ${path} is a folder`), { code: 'EISDIR' })
    return node?.text ?? null
  }

  /** Returns when a file was made, true time, ms; null if there is no file. */
  madeAt(path: string): number | null {
    const node = this.#at(path)
    return node?.kind === 'file' ? node.madeAt : null
  }

  list(path: string): string[] {
    const node = this.#at(path)
    return node?.kind === 'folder' ? [...node.names.keys()] : []
  }

  /** Texts of all files in a folder, by their paths below it. */
  files(path: string): Map<string, string> {
    const found = new Map<string, string>()
    const walk = (folder: string, below: string) => {
      for (const name of this.list(folder)) {
        const node = this.#at(`${folder}/${name}`)
        if (node?.kind === 'folder') walk(`${folder}/${name}`, `${below}${name}/`)
        else if (node?.kind === 'file') found.set(`${below}${name}`, node.text)
      }
    }
    walk(path, '')
    return found
  }

  /** Creates folders that exist before the simulation starts. */
  prepare(path: string): void {
    let folder = this.#root
    for (const name of path.split('/').filter((part) => part !== '')) {
      const below = folder.names.get(name) ?? newFolder()
      folder.names.set(name, below)
      folder.durable.set(name, below)
      if (below.kind === 'folder') folder = below
    }
  }

  /** Loses the power: unsynced changes may be lost. */
  losePower(chance: Chance): void {
    losePower(this.#root, chance, (what) => this.#world.count(`disk: ${what}`))
  }

  #add(path: string, node: Node): boolean {
    const parent = this.#parent(path)
    if (parent === null) throw createMissingError(path)
    if (parent.names.has(getName(path))) return false
    parent.names.set(getName(path), node)
    return true
  }

  #append(path: string, text: string, fence?: Fence): boolean {
    const node = this.#at(path)
    const isBroken = fence !== undefined && !fence.isIntact(this.list(fence.folder))
    if (isBroken || node?.kind !== 'file') return false
    node.text += text
    return true
  }

  #syncAll(path: string): boolean {
    const node = this.#known(path)
    sync(node)
    if (node.kind === 'folder')
      for (const name of node.names.keys()) this.#syncAll(`${path}/${name}`)
    return true
  }

  #rename(from: string, to: string): void {
    const node = this.#known(from)
    const target = this.#parent(to)
    if (target === null) throw createMissingError(to)
    this.#parent(from)?.names.delete(getName(from))
    target.names.set(getName(to), node)
  }

  #known(path: string): Node {
    const node = this.#at(path)
    if (node === null) throw createMissingError(path)
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

function losePower(node: Node, chance: Chance, count: (what: string) => void): void {
  if (node.kind === 'file') {
    if (node.text === node.durable) return
    count('text not synced, power failed')
    // Text that was added to durable text is lost from its end.
    const least = node.text.startsWith(node.durable) ? node.durable.length : 0
    node.text = chance.pick([
      node.durable,
      node.text,
      node.text.slice(0, chance.between(least, node.text.length)),
    ])
    node.durable = node.text
    return
  }
  for (const name of new Set([...node.names.keys(), ...node.durable.keys()])) {
    const [current, durable] = [node.names.get(name), node.durable.get(name)]
    if (current === durable) continue
    count('name not synced, power failed')
    const survivor = chance.happens(0.5) ? current : durable
    if (survivor === undefined) node.names.delete(name)
    else node.names.set(name, survivor)
  }
  node.durable = new Map(node.names)
  for (const below of node.names.values()) losePower(below, chance, count)
}

function getName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function createMissingError(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, ${path}`), { code: 'ENOENT' })
}
