import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { catalogue, itemSpec } from '../catalog/catalogue.ts'
import { isImperative } from '../catalog/problems.ts'
import { readItem } from '../catalog/read-item.ts'
import { isDomain } from '../catalog/value/formats.ts'
import type { LoadedWorkspace, Recorded, Store } from '../index.ts'
import { sameJson } from '../model/canonical-json.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey, Value } from '../model/item.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import { mapSecrets } from '../model/secret.ts'
import { visible } from '../report/wrap.ts'
import { parseJson } from '../state/domain-file.ts'
import type { RecordedItem } from '../state/record.ts'
import { exits } from './exits.ts'
import type { CommandContext } from './io.ts'
import { withLock } from './lock.ts'
import { openWorkspace } from './open.ts'

interface ImportOptions {
  domain?: string
  writeManifests?: boolean
  replace?: boolean
  lockTimeout: number
}

interface Adopted {
  domain: Domain
  item: ItemKey
  value: Value
}

/** `edgewise import`: records what a service already holds as a confirmed base; writes nothing to the service. */
export async function importFiles(context: CommandContext, [files]: unknown[], options: ImportOptions): Promise<number> {
  const { io } = context
  let workspace = openWorkspace(context, 'at hand')
  const observed = (files as string[]).flatMap((file) => readImport(resolve(io.cwd, file), options.domain, workspace))
  if (options.writeManifests === true && writeManifests(context, workspace, observed) > 0) workspace = openWorkspace(context, 'at hand')
  if (workspace.diagnostics.some((diagnostic) => diagnostic.severity === 'error')) {
    throw new EdgewiseError('invalid', 'the manifests have errors; nothing was recorded', 'Run "edgewise validate".', workspace.diagnostics)
  }
  return withLock(context, workspace, 'import', options.lockTimeout, ({ store }) =>
    adoptAll(context, workspace, store, observed, options.replace === true),
  )
}

/** Records what manifests mention of it. */
async function adoptAll(
  context: CommandContext,
  workspace: LoadedWorkspace,
  store: Store,
  observed: Adopted[],
  replace: boolean,
): Promise<number> {
  const { io } = context
  const recorded = await store.load()
  const managed = observed.filter(({ domain, item }) => workspace.desired.get(domain)?.has(item) === true)
  const skipped = observed.filter((entry) => !managed.includes(entry))
  refuseDiffering(managed, recorded, replace)
  const at = new Date(io.clock.now()).toISOString()
  const touched = new Map<Domain, Map<ItemKey, RecordedItem>>()
  for (const { domain, item, value } of managed) {
    const items = touched.get(domain) ?? new Map(recorded.get(domain))
    const templates = workspace.vault.templatesOf(value)
    const secrets = Object.keys(templates).length === 0 ? {} : { templates }
    items.set(item, { status: 'confirmed', candidates: [value], ...secrets, at, apply: `import-${at}`, origin: 'import' })
    touched.set(domain, items)
  }
  if (touched.size > 0) await store.save(touched, `Import of ${managed.length} items of ${touched.size} domains`)
  tell(
    context,
    touched.size,
    managed.length,
    skipped.map(({ domain, item }) => ({ domain, item: workspace.scrub(item) })),
  )
  return exits.done
}

function tell({ io, options, note }: CommandContext, domains: number, items: number, skipped: Pick<Adopted, 'domain' | 'item'>[]): void {
  if (options.json === true) {
    io.out(`${JSON.stringify({ format: 'edgewise.import/1', domains, items, skipped })}\n`)
    return
  }
  io.out(`Recorded ${items} ${items === 1 ? 'item' : 'items'} of ${domains} ${domains === 1 ? 'domain' : 'domains'}.\n`)
  if (skipped.length === 0) return
  note(`Skipped, since no manifest mentions them:`)
  for (const { domain, item } of skipped) note(`  ${visible(item)} of ${domain}`)
}

function refuseDiffering(managed: Adopted[], recorded: Recorded, replace: boolean): void {
  if (replace) return
  const differing = managed.filter(({ domain, item, value }) => {
    const held = recorded.get(domain)?.get(item)
    return held !== undefined && !(held.status === 'confirmed' && sameJson(held.candidates[0], value))
  })
  const [first] = differing
  if (first === undefined) return
  throw new EdgewiseError(
    'usage',
    `${differing.length === 1 ? 'an item is' : `${differing.length} items are`} recorded otherwise, e.g. ${first.item} of ${first.domain}; nothing was recorded`,
    'Give --replace if the imported values are the right ones.',
  )
}

/** The items that a file says a service holds, in canonical form and without secrets. */
function readImport(path: string, domain: string | undefined, workspace: LoadedWorkspace): Adopted[] {
  const fail = (why: string): never => {
    throw new EdgewiseError(
      'usage',
      `${path} can't be imported: ${why}`,
      'Expected {"<domain>": {"<item>": payload}}, or an answer of the service.',
    )
  }
  const data = parseJson(textOf(path)) ?? fail('it is not JSON')
  const configs = isObject(data) ? configsOf(data, domain, fail) : fail('expected an object')
  const itemNames = new Map(Object.entries(workspace.config.service.itemKeys).map(([item, name]) => [name, item]))
  return configs.flatMap(([name, config]) => {
    const lower = name.toLowerCase()
    if (!isDomain(lower)) fail(`"${name}" is no domain`)
    return Object.entries(config).map(([wireName, payload]) => adopt(lower, itemNames.get(wireName) ?? wireName, payload, workspace, fail))
  })
}

function adopt(domain: Domain, item: ItemKey, payload: Json, workspace: LoadedWorkspace, fail: (why: string) => never): Adopted {
  // An item that the catalogue does not know can't be managed, so it is skipped later whatever it holds.
  if (!catalogue.has(item)) return { domain, item, value: null }
  const spec = itemSpec(item)
  const wire = readItem(spec, payload, 'wire', domain)
  const [problem] = wire.problems
  if (wire.value === null) fail(`${item} of ${domain} is not valid at ${problem?.pointer || '/'}: ${problem?.detail ?? ''}`)
  // What the schema accepts is no deeper than it says; the next reader goes all the way down.
  const imperative = readItem(spec, payload, 'manifest', domain).problems.find(isImperative)
  if (imperative !== undefined) fail(`${item} of ${domain} is an action and no configuration (${imperative.pointer})`)
  return { domain, item, value: spec.canonical(workspace.vault.mask(item, wire.payload)) }
}

function configsOf(data: JsonObject, domain: string | undefined, fail: (why: string) => never): [string, JsonObject][] {
  const inner = own(data, 'data')
  if (Array.isArray(inner)) {
    return inner.map((entry) => {
      const config = isObject(entry) ? own(entry, 'config') : undefined
      if (!isObject(entry) || typeof entry['domain'] !== 'string' || !isObject(config))
        return fail('expected "domain" and "config" in each entry of "data"')
      return [entry['domain'], config]
    })
  }
  if (isObject(inner) && isObject(inner['config'])) {
    const config = inner['config']
    const names = domainNames(own(inner, 'domains') ?? own(data, 'domains')) ?? (domain === undefined ? null : [domain])
    return (names ?? fail('the answer names no domain; give --domain')).map((name) => [name, config])
  }
  return Object.entries(data).map(([name, config]) =>
    isObject(config) ? [name, config] : fail(`expected an object of items under "${name}"`),
  )
}

function domainNames(value: Json | undefined): string[] | null {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim())
  if (!Array.isArray(value) || value.length === 0) return null
  return value.flatMap((entry) =>
    typeof entry === 'string' ? [entry] : isObject(entry) && typeof entry['domain'] === 'string' ? [entry['domain']] : [],
  )
}

/** Writes a manifest for each domain that has none; returns how many. Secrets become references that are to be provided. */
function writeManifests({ note }: CommandContext, workspace: LoadedWorkspace, observed: Adopted[]): number {
  const missing = new Set(observed.map((entry) => entry.domain).filter((domain) => !workspace.desired.has(domain)))
  for (const domain of missing) {
    const config = Object.fromEntries(
      observed.filter((entry) => entry.domain === domain && catalogue.has(entry.item)).map((entry) => [entry.item, entry.value]),
    )
    const path = join(workspace.root, 'domains', `${domain}.yaml`)
    for (const [item, value] of Object.entries(config)) {
      const templates = workspace.vault.templatesOf(value)
      let lacking = false
      config[item] = mapSecrets(value, (secret) => {
        const template = templates[secret]
        if (template === undefined) lacking = true
        return template === undefined ? null : template.includes('${') ? template : `\${secret:${template}}`
      })
      if (lacking) {
        delete config[item]
        note(`${item} of ${domain} holds a secret: add it to ${path} yourself, with a \${secret:name} reference.`)
      }
    }
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, stringify({ domain, config }), { flag: 'wx' })
    note(`wrote ${path}`)
  }
  return missing.size
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new EdgewiseError('usage', `${path} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}
