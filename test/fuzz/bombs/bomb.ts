import type { Chance } from '../../simulation/chance.ts'

/** Files of a workspace whose work could explode, and the commands that load them. */
export interface Bomb {
  files: Record<string, string>
  commands: string[][]
}

/** Builds a bomb of about this size, bytes of all files together. */
export type Builder = (bytes: number, chance: Chance) => Bomb

/** Begin of every workspace file. */
export const home = 'version: 1\nid: bombs\nstate: {store: dir}\n'
export const checks = [['validate'], ['plan'], ['fmt', '--check']]

/** Repeats a text up to a size, at least once. */
export function repeat(text: string, bytes: number): string {
  return text.repeat(count(bytes, Buffer.byteLength(text)))
}

/** Counts the parts of a size that fit, at least one. */
export function count(bytes: number, each: number): number {
  return Math.max(1, Math.floor(bytes / each))
}

/** Joins parts that are built by their numbers. */
export function list(length: number, build: (i: number) => string, by = ''): string {
  return Array.from({ length }, (_, i) => build(i)).join(by)
}

export function quote(text: string): string {
  return JSON.stringify(text)
}

export function nameDomain(i: number): string {
  return `d${i}.example.com`
}

/** Writes the manifest of one domain with these lines under `config`. */
export function writeManifest(config: string): string {
  return `domain: www.example.com\nconfig:\n${config}`
}

/** Builds a workspace with one manifest file, and perhaps more settings. */
export function buildOne(text: string, settings = ''): Bomb {
  return { files: { 'edgewise.yaml': home + settings, 'domains/a.yaml': text }, commands: checks }
}
