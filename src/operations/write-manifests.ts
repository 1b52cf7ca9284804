import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { catalogue } from '../catalog/catalogue.ts'
import { matchesGlobs } from '../manifest/forgotten-files.ts'
import { formatYaml } from '../manifest/format-yaml.ts'
import { liftCommon, maxParts } from '../manifest/lift-common.ts'
import { loadWorkspaceFiles } from '../manifest/load-workspace.ts'
import { buildConfigs, overrideDefaults } from '../manifest/written-config.ts'
import { parseYaml, type SourceFile } from '../manifest/yaml-file.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import type { ImportedItem, Domain, ItemKey } from '../model/item.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../model/json.ts'
import { listSome } from '../model/words.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'

const maxListed = 20

/** Manifests to write for an import, and the items that they omit. */
export interface NewManifests {
  /** Manifests and perhaps a file of profiles. */
  files: SourceFile[]
  /** Number of manifests. */
  count: number
  /** Path of the file of profiles; null if there is none. */
  profile: string | null
  omitted: { domain: Domain; item: ItemKey }[]
}

/**
 * Builds a manifest for each imported domain without one, and one file of profiles with the
 * configuration that many domains share. A secret becomes its reference; an item whose secret has
 * no known reference is omitted. Writes nothing.
 *
 * @throws EdgewiseError `usage` when a file exists already, or would not be loaded as a manifest
 */
export function buildManifests(
  workspace: LoadedWorkspace,
  observed: ImportedItem[],
  outside: Outside,
): NewManifests {
  const { config } = workspace
  const { configs, omitted } = buildConfigs(workspace, observed)
  if (configs.size === 0) return { files: [], count: 0, profile: null, omitted }
  const profile = findFreeProfile(workspace, outside)
  // An item of `defaults` is merged, so its value is not the profile's alone. Without a glob for
  // the profile file, nothing goes into profiles.
  const excluded = isLoaded(profile.path, config) ? Object.keys(config.defaults) : catalogue.keys()
  const { common, domains } = liftCommon(configs, new Set(excluded))
  const texts = new Map<string, string>()
  if (common.length > 0) {
    const documents = common.map((part, i) => ({ profile: profile.names(i), config: part }))
    texts.set(profile.path, formatDocuments(profile.path, documents))
  }
  const omittedByDomain = groupBy(omitted, ({ domain }) => domain)
  for (const [domain, { takes, config: rest }] of domains) {
    const profiles: JsonObject =
      takes.length === 0 ? {} : { profiles: takes.map((part) => profile.names(part)) }
    const omittedItems = new Set(omittedByDomain.get(domain)?.map(({ item }) => item))
    texts.set(
      buildManifestPath(domain),
      formatDocuments(buildManifestPath(domain), [
        { domain, ...profiles, config: overrideDefaults(config.defaults, rest, omittedItems) },
      ]),
    )
  }
  refuseUnwritable(workspace, [...texts.keys()])
  const files = Array.from(texts, ([path, text]) => ({ path, text }))
  return { files, count: configs.size, profile: common.length > 0 ? profile.path : null, omitted }
}

/**
 * Writes manifests and notes them. Existing files are never changed.
 *
 * @throws EdgewiseError `usage` when a file can't be written
 */
export function writeManifests(
  root: string,
  { files, count, profile, omitted }: NewManifests,
  note: (text: string) => void,
): void {
  for (const { domain, item } of omitted)
    note(
      `${item} of ${domain} contains a secret: add it to ${buildManifestPath(domain)} yourself, ` +
        `with a \${secret:name} reference.`,
    )
  for (const [i, { path, text }] of files.entries()) {
    const failure = write(join(root, path), text)
    if (failure !== null) throw createWriteError(root, files, i, failure)
    if (files.length <= maxListed) note(`wrote ${join(root, path)}`)
  }
  if (files.length > maxListed) note(`wrote ${count} manifests below ${join(root, 'domains')}`)
  if (profile !== null) note(`Shared configuration is in ${profile}.`)
}

/** Finds a path and names for new profiles that are not in use. */
function findFreeProfile(
  { root }: LoadedWorkspace,
  { env }: Outside,
): { path: string; names(i: number): string } {
  const taken = new Set<Json | undefined>()
  for (const file of loadWorkspaceFiles(root, env).files) {
    for (const { value } of parseYaml(file).documents)
      if (isObject(value)) taken.add(getOwn(value, 'profile'))
  }
  for (let number = 1; ; number++) {
    const name = `imported${number === 1 ? '' : number}`
    const path = `profiles/${name}.yaml`
    const names = (i: number) => (i === 0 ? name : `${name}-${i + 1}`)
    const free = Array.from({ length: maxParts }, (_, i) => names(i)).every(
      (each) => !taken.has(each),
    )
    if (free && !existsSync(join(root, path))) return { path, names }
  }
}

/** Returns whether the workspace file includes a path. */
function isLoaded(path: string, { manifests, profiles }: LoadedWorkspace['config']): boolean {
  return matchesGlobs(path, [manifests, profiles])
}

/** Builds the path of a manifest; a name too long for file systems is shortened. */
function buildManifestPath(domain: Domain): string {
  const name =
    domain.length <= 200
      ? domain
      : `${domain.slice(0, 180)}~${createHash('sha256').update(domain).digest('hex').slice(0, 8)}`
  return `domains/${name}.yaml`
}

/** Formats documents in the style of `edgewise fmt`. */
function formatDocuments(path: string, documents: JsonObject[]): string {
  const text = documents.map((document) => stringify(document, { lineWidth: 0 })).join('---\n')
  const formatted = formatYaml({ path, text })
  if (!('text' in formatted))
    throw new TypeError(`expected what is written to ${path} to be YAML that can be formatted`)
  return formatted.text
}

function refuseUnwritable({ root, config }: LoadedWorkspace, paths: string[]): void {
  const inTheWay = paths.find((path) => existsSync(join(root, path)))
  if (inTheWay !== undefined) {
    throw new EdgewiseError(
      'usage',
      `${inTheWay} already exists with other content; nothing was written`,
      'Move it, or write the manifest yourself and import without --write-manifests.',
    )
  }
  const unread = paths.find((path) => !isLoaded(path, config))
  if (unread === undefined) return
  throw new EdgewiseError(
    'usage',
    `${unread} would not be loaded: no glob under "manifests" in edgewise.yaml matches it; ` +
      'nothing was written',
    'Add the glob "domains/**/*.{yaml,yml}" there, or write the manifests yourself.',
  )
}

/** Creates a file, completely or not at all; returns why it can't be written, or null. */
function write(path: string, text: string): string | null {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '', { flag: 'wx' })
    try {
      writeFileSync(path, text)
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    }
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}

/** @param failed index of the first file that was not written */
function createWriteError(
  root: string,
  files: SourceFile[],
  failed: number,
  failure: string,
): EdgewiseError {
  const list = (some: SourceFile[]) =>
    listSome(
      some.map(({ path }) => path),
      maxListed,
    )
  const written = failed === 0 ? '' : ` Written: ${list(files.slice(0, failed))}.`
  return new EdgewiseError(
    'usage',
    `${join(root, files[failed]?.path ?? '')} can't be written (${failure}); nothing was ` +
      `recorded.${written} Not written: ${list(files.slice(failed))}`,
    'Fix the cause, then run the same command again: it writes the manifests that are missing.',
  )
}
