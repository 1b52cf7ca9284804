import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import picomatch from 'picomatch'
import { stringify } from 'yaml'
import { catalogue } from '../catalog/catalogue.ts'
import { formatYaml } from '../manifest/format-yaml.ts'
import { liftCommon, maxParts } from '../manifest/lift-common.ts'
import { loadWorkspaceFiles } from '../manifest/load-workspace.ts'
import { buildConfigs, overrideDefaults } from '../manifest/written-config.ts'
import { parseYaml } from '../manifest/yaml-file.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import type { ImportedItem, Domain } from '../model/item.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../model/json.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Ports } from './ports.ts'

const mostTold = 20

/**
 * Writes a manifest for each imported domain that has none, and one file with profiles for what
 * many of them share. No file that is there is changed. A secret becomes the reference that it was
 * made from; an item with a secret of which no manifest tells that is left out and named.
 *
 * @returns how many manifests were written
 * @throws EdgewiseError `usage` when a file is in the way, or would not be read as a manifest;
 * nothing is written then
 */
export function writeManifests(
  workspace: LoadedWorkspace,
  observed: ImportedItem[],
  { outside, dialogue }: Ports,
): number {
  const { root, config } = workspace
  const { configs, omitted } = buildConfigs(workspace, observed)
  if (configs.size === 0) return 0
  for (const { domain, item } of omitted)
    dialogue.note(
      `${item} of ${domain} holds a secret: add it to ${pathOf(domain)} yourself, with a \${secret:name} reference.`,
    )
  const profile = freeProfile(workspace, outside)
  // An item of `defaults` is never just what a profile says, and a profile that nothing reads would
  // be of no use.
  const excluded = isRead(profile.path, config) ? Object.keys(config.defaults) : catalogue.keys()
  const { common, domains } = liftCommon(configs, new Set(excluded))
  const texts = new Map<string, string>()
  if (common.length > 0) {
    const documents = common.map((part, i) => ({ profile: profile.names(i), config: part }))
    texts.set(profile.path, textOf(profile.path, documents))
  }
  const open = groupBy(omitted, ({ domain }) => domain)
  for (const [domain, { takes, config: rest }] of domains) {
    const profiles: JsonObject =
      takes.length === 0 ? {} : { profiles: takes.map((part) => profile.names(part)) }
    const unsaid = new Set(open.get(domain)?.map(({ item }) => item))
    texts.set(
      pathOf(domain),
      textOf(pathOf(domain), [
        { domain, ...profiles, config: overrideDefaults(config.defaults, rest, unsaid) },
      ]),
    )
  }
  refuseUnwritable(workspace, [...texts.keys()])
  for (const [path, text] of texts) {
    write(join(root, path), text)
    if (texts.size <= mostTold) dialogue.note(`wrote ${join(root, path)}`)
  }
  if (texts.size > mostTold)
    dialogue.note(`wrote ${configs.size} manifests below ${join(root, 'domains')}`)
  if (common.length > 0) dialogue.note(`What many of them share is in ${profile.path}.`)
  return configs.size
}

/** Where profiles go, and what they are called, so that they meet none that is there. */
function freeProfile(
  { root }: LoadedWorkspace,
  { env }: Ports['outside'],
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

/** Whether the workspace file has a file of this name read. */
function isRead(path: string, { manifests, profiles }: LoadedWorkspace['config']): boolean {
  return [manifests, profiles].some((globs) => {
    const within = globs.filter((glob) => !glob.startsWith('!'))
    const out = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1))
    return (
      within.some((glob) => picomatch(glob)(path)) && !out.some((glob) => picomatch(glob)(path))
    )
  })
}

/** The longest names are more than file systems take. */
function pathOf(domain: Domain): string {
  const name =
    domain.length <= 200
      ? domain
      : `${domain.slice(0, 180)}~${createHash('sha256').update(domain).digest('hex').slice(0, 8)}`
  return `domains/${name}.yaml`
}

/** Documents in the style of `edgewise fmt`. */
function textOf(path: string, documents: JsonObject[]): string {
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
      `${inTheWay} is there already, and declares something else; nothing was written`,
      'Move it, or write the manifest yourself and import without --write-manifests.',
    )
  }
  const unread = paths.find((path) => !isRead(path, config))
  if (unread === undefined) return
  throw new EdgewiseError(
    'usage',
    `${unread} would be no manifest: it matches nothing under "manifests" in edgewise.yaml; nothing was written`,
    'Add the glob "domains/**/*.yaml" there, or write the manifests yourself.',
  )
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    throw new EdgewiseError(
      'usage',
      `${path} can't be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    )
  }
}
