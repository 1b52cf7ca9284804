import { hash } from 'node:crypto'
import type { Domain, ItemKey, ItemState } from '../../model/item.ts'
import type { WorkspaceConfig } from '../workspace.ts'

/** File in the cache of the user that belongs to one workspace. */
export interface CacheFile {
  /** Loads the text; null if there is none that can be trusted. */
  load(): string | null
  /** Replaces the text; does nothing where that fails. */
  save(text: string): void
}

/** Items with their desired states: the table of the indexes in a content. */
export type StoredItems = [ItemKey, ItemState][]

/** Manifests without a finding, as stored. Items and stacks are indexes of their tables. */
export interface CacheContent {
  /** Indexes of the items with secrets, with the references of these. */
  references: [number, string[]][]
  /** Indexes of the items that are unset. */
  unset: number[]
  /** Lists of profiles, each with the hash of everything below the manifests that name it. */
  stacks: { profiles: string[]; hash: string }[]
  /** Manifests of files, each with the hash of the file's text. */
  files: [string, CachedManifest[]][]
}

/**
 * One manifest: the index of its document in the file, its stack, whether it has `domains` instead
 * of `domain`, and its domains with their items.
 */
export type CachedManifest = [number, number, boolean, [Domain, number[]][]]

const format = 'edgewise.cache/2'

/**
 * Formats a file: a line with format, key and hash of the parts, and a line for each part.
 *
 * @param key identifies the program and the settings that the parts depend on
 */
export function formatCache(key: string, parts: unknown[]): string {
  const body = parts.map((part) => JSON.stringify(part)).join('\n')
  return `${format} ${key} ${hashText(body)}\n${body}\n`
}

/**
 * Splits a file into its parts, which are not parsed yet; null if it is damaged, or of another
 * format or key. The hash proves that `formatCache` wrote them.
 */
export function splitCache(key: string, text: string): string[] | null {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1, -1)
  return text.slice(0, end) === `${format} ${key} ${hashText(body)}` ? body.split('\n') : null
}

/** Builds the key of the manifests, by the program and the settings that their items depend on. */
export function buildManifestKey(
  program: string,
  { secrets, allowLiteralSecrets, service }: WorkspaceConfig,
): string {
  const settings = [Object.keys(secrets), allowLiteralSecrets, service.itemKeys, service.unset]
  return hashText(JSON.stringify([program, settings]))
}

/** Hashes a text of a file, a key or a content. */
export function hashText(text: string): string {
  return hash('sha256', text, 'base64')
}
