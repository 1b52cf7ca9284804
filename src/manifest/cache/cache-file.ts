import { hash } from 'node:crypto'
import type { Domain, ItemKey, ItemState } from '../../model/item.ts'
import { parseJson } from '../../model/json.ts'

/** File in the cache of the user that belongs to one workspace. */
export interface CacheFile {
  /** Loads the text; null if there is none that can be trusted. */
  load(): string | null
  /** Replaces the text; does nothing where that fails. */
  save(text: string): void
}

/** Manifests without a finding, as stored. Items and stacks are indexes of their tables. */
export interface CacheContent {
  /** Items with their desired states. */
  items: [ItemKey, ItemState][]
  /** Indexes of the items with secrets, with the references of these. */
  references: [number, string[]][]
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

const format = 'edgewise.cache/1'

/** Formats the file: a line with format, key and hash of the content, and the content. */
export function formatCache(key: string, content: CacheContent): string {
  const body = JSON.stringify(content)
  return `${format} ${key} ${hashText(body)}\n${body}\n`
}

/** Parses the file; null if it is damaged, or of another format, program or configuration. */
export function parseCache(key: string, text: string): CacheContent | null {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1, -1)
  if (text.slice(0, end) !== `${format} ${key} ${hashText(body)}`) return null
  // The hash proves that `formatCache` wrote the content.
  return (parseJson(body) as CacheContent | undefined) ?? null
}

/** Hashes a text of a file, a key or a content. */
export function hashText(text: string): string {
  return hash('sha256', text, 'base64')
}
