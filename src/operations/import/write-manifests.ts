import type { Settings, Outside } from '../runtime/parts.ts'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { isWildcard } from '../../core/catalog/value/formats.ts'
import { catalogue } from '../../core/catalog/catalogue.ts'
import { describeUnwritten } from '../../files/explain-failure.ts'
import { exists } from '../../files/look.ts'
import { writeFiles, type WriteFailure } from '../../files/write-files.ts'
import { isDeclaring } from '../../manifest/manifests/forgotten-files.ts'
import { formatYaml } from '../../manifest/yaml/format-yaml.ts'
import { liftCommon, maxParts } from '../../manifest/manifests/lift-common.ts'
import { loadWorkspaceFiles } from '../../manifest/manifests/load-workspace.ts'
import { addSecrets } from '../../manifest/secrets/add-secrets.ts'
import { addSchemaLine, findSchema } from '../../manifest/yaml/schema-line.ts'
import {
  buildConfigs,
  overrideDefaults,
  nameSecrets,
  type NewSecret,
} from '../../manifest/workspace-file/written-config.ts'
import { parseYaml, type SourceFile } from '../../manifest/yaml/yaml-file.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { groupDomains } from '../../core/model/lists.ts'
import type { ImportedItem, Domain } from '../../core/model/item.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../../core/model/json.ts'
import { countMore, listSome, mapSome } from '../../core/model/text/words.ts'
import type { LoadedWorkspace } from '../runtime/load-workspace.ts'

const maxListed = 20

/** Manifests to write for an import. */
export interface NewManifests {
  /** Manifests and perhaps a file of profiles. */
  files: SourceFile[]
  /** Number of manifests. */
  count: number
  /** Path of the file of profiles; null if there is none. */
  profile: string | null
  /** Secrets that get a name, and the names by secret. */
  secrets: NewSecret[]
  names: Record<string, string>
  /** The workspace file with the new secrets; null if there are none. */
  workspaceFile: { before: SourceFile; after: SourceFile } | null
}

/**
 * Builds a manifest for each imported domain without one, and one file of profiles with the
 * configuration that many domains share. A secret becomes its reference; one without a known
 * reference gets a name in the workspace file. Writes nothing.
 *
 * @throws EdgewiseError `usage` when a file exists already, would not be loaded as a manifest, or
 * when the workspace file can't be extended
 */
export function buildManifests(
  workspace: LoadedWorkspace,
  observed: ImportedItem[],
  outside: Outside,
): NewManifests {
  const { config, desired, vault } = workspace
  const written = observed.filter(({ domain, item }) => !desired.has(domain) && catalogue.has(item))
  const variables = new Set(
    Object.values(config.secrets).flatMap((source) => ('env' in source ? [source.env] : [])),
  )
  const secrets = nameSecrets(
    written,
    (secret) => vault.listTemplates({ $secret: secret })[secret] !== undefined,
    (name, variable, secret) => {
      if (Object.hasOwn(config.secrets, name) || variables.has(variable)) return false
      const value = outside.env[variable] ?? ''
      return value === '' || vault.isValue(secret, value)
    },
  )
  const names = Object.fromEntries(secrets.map(({ secret, name }) => [secret, name]))
  const configs = buildConfigs(workspace, observed, names)
  const none = { secrets, names, workspaceFile: null }
  if (configs.size === 0) return { files: [], count: 0, profile: null, ...none }
  outside.onPhase?.({ name: 'preparing-manifests', total: configs.size })
  const profile = findFreeProfile(workspace, outside)
  // An item of `defaults` is merged, so its value is not the profile's alone. Without a glob for
  // the profile file, nothing goes into profiles.
  const excluded = isDeclaring(profile.path, config)
    ? Object.keys(config.defaults)
    : catalogue.keys()
  const { common, domains } = liftCommon(configs, new Set(excluded))
  const texts = new Map<string, string>()
  if (common.length > 0) {
    const documents = common.map((part, i) => ({ profile: profile.names(i), config: part }))
    texts.set(profile.path, formatDocuments(profile.path, documents))
  }
  let done = 0
  for (const [domain, { takes, config: rest }] of domains) {
    outside.onPhase?.({ name: 'preparing-manifests', done: done++, total: domains.size })
    const profiles: JsonObject =
      takes.length === 0 ? {} : { profiles: takes.map((part) => profile.names(part)) }
    texts.set(
      buildManifestPath(domain),
      formatDocuments(buildManifestPath(domain), [
        { domain, ...profiles, config: overrideDefaults(config.defaults, rest) },
      ]),
    )
  }
  refuseUnwritable(workspace, [...texts.keys()])
  const schema = findSchema(workspace.root)
  const files = Array.from(texts, ([path, text]) => ({ path, text }))
  return {
    files: schema === null ? files : files.map((file) => addSchemaLine(file, schema)),
    count: configs.size,
    profile: common.length > 0 ? profile.path : null,
    secrets,
    names,
    workspaceFile: secrets.length === 0 ? null : extendWorkspaceFile(workspace, secrets, outside),
  }
}

/** @throws EdgewiseError `usage` when the file has a form that can't be extended */
function extendWorkspaceFile(
  { root }: Settings,
  secrets: NewSecret[],
  { env }: Outside,
): NonNullable<NewManifests['workspaceFile']> {
  const [before] = loadWorkspaceFiles(root, env).files
  const text = before === undefined ? null : addSecrets(before, secrets)
  if (before !== undefined && text !== null) return { before, after: { ...before, text } }
  const names = listSome(
    secrets.map(({ name }) => name),
    maxListed,
  )
  throw new EdgewiseError(
    'usage',
    `the secrets ${names} can't be added to edgewise.yaml; nothing was written`,
    'Write "secrets:" as a plain mapping there, without anchors, then run the command again.',
  )
}

/**
 * Writes manifests, adds their secrets to the workspace file, and notes all of them. Other files
 * are never changed. Writes all files or none.
 *
 * @throws EdgewiseError `usage` when a file can't be written
 */
export function writeManifests(
  root: string,
  { files, count, profile, secrets, workspaceFile }: NewManifests,
  outside: Outside,
  note: (text: string) => void,
): void {
  const { machine, env } = outside
  // The workspace file comes first: without its secrets the manifests would be invalid.
  const all = [
    ...(workspaceFile === null
      ? []
      : [{ ...workspaceFile.after, before: workspaceFile.before.text }]),
    ...files.map((file) => ({ ...file, before: null })),
  ].map((file) => ({ ...file, path: join(root, file.path) }))
  const failure = writeFiles(root, all, machine.processName, undefined, (made) =>
    outside.onPhase?.({ name: 'writing-files', done: Math.floor(made / 2), total: all.length }),
  )
  if (failure !== null) throw createWriteError(failure)
  if (files.length <= maxListed) for (const { path } of files) note(`wrote ${join(root, path)}`)
  else note(`wrote ${count} manifests below ${join(root, 'domains')}`)
  if (profile !== null) note(`Shared configuration is in ${profile}.`)
  for (const line of describeSecrets(secrets, env)) note(line)
}

/** Describes the new secrets: one line for each, with some of its domains. */
function describeSecrets(secrets: NewSecret[], env: Outside['env']): string[] {
  if (secrets.length === 0) return []
  return [
    'Secrets were added to edgewise.yaml; set each variable to the value that the service has:',
    ...mapSome(
      secrets,
      maxListed,
      ({ name, variable, uses }) => {
        const places = groupDomains(uses, ({ item }) => item).map(({ first, domains }) =>
          domains.length === 1
            ? `${first.item} of ${domains.join()}`
            : `${first.item} of ${domains.length} domains, e.g. ${domains.slice(0, 3).join(', ')}`,
        )
        const set = (env[variable] ?? '') === '' ? '' : ' (already set)'
        return `  ${name}: ${places.join('; ')}${set}`
      },
      (rest) => `  ${countMore(rest)}`,
    ),
  ]
}

/** Finds a path and names for new profiles that are not in use. */
function findFreeProfile(
  { root }: Settings,
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
    if (free && !exists(join(root, path))) return { path, names }
  }
}

/**
 * Builds the path of a manifest; a name too long for file systems is shortened. A wildcard gets a
 * name before its dot, since globs skip hidden files; no domain has a `~`.
 */
function buildManifestPath(domain: Domain): string {
  const visible = isWildcard(domain) ? `wildcard~${domain}` : domain
  const name =
    domain.length <= 200
      ? visible
      : `${visible.slice(0, 180)}~${createHash('sha256').update(domain).digest('hex').slice(0, 8)}`
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

function refuseUnwritable({ root, config }: Settings, paths: string[]): void {
  const inTheWay = paths.find((path) => exists(join(root, path)))
  if (inTheWay !== undefined) {
    throw new EdgewiseError(
      'usage',
      `${inTheWay} already exists with other content; nothing was written`,
      'Move it, or write the manifest yourself and import without --write-manifests.',
    )
  }
  const unread = paths.find((path) => !isDeclaring(path, config))
  if (unread === undefined) return
  throw new EdgewiseError(
    'usage',
    `${unread} would not be loaded: no glob under "manifests" in edgewise.yaml matches it; ` +
      'nothing was written',
    'Add the glob "domains/**/*.{yaml,yml}" there, or write the manifests yourself.',
  )
}

function createWriteError({ path, code, left }: WriteFailure): EdgewiseError {
  const written = left.length === 0 ? 'nothing was written or recorded' : 'nothing was recorded'
  const rest =
    left.length === 0 ? '' : `. Written, and not removed again: ${listSome(left, maxListed)}`
  return new EdgewiseError(
    'usage',
    `${describeUnwritten(path, code)}; ${written}${rest}`,
    'Fix the cause, then run the same command again.',
  )
}
