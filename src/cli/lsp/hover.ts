import type { Domain, ItemKey, ItemState } from '../../core/model/item.ts'
import { formatPointerStep, resolvePointer, type Json } from '../../core/model/json.ts'
import { append } from '../../core/model/lists.ts'
import { mapSecrets } from '../../core/model/secret.ts'
import { formatCount, pluralize } from '../../core/model/text/words.ts'
import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import type { loadLocalState } from '../../operations/runtime/local-state.ts'
import type { Configured, Desired, ItemPlaces } from '../../operations/runtime/parts.ts'
import { describeDomain } from '../../operations/show.ts'
import { describeStart } from '../../operations/trace.ts'
import { listFacts } from '../../outlets/report/catalog/describe-item.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { cutMiddle } from '../../outlets/report/text/wrap.ts'
import type { Spot } from './cursor.ts'
import { findSchemaAt } from './schema-at.ts'

type Merged = Configured & Desired & ItemPlaces & Pick<Workspace, 'findDomainPlace'>

/** What the hover text of a place is made of. */
export interface Hovered {
  /** Path of the file, relative to the root of the workspace. */
  path: string
  spot: Spot
  /** Null as long as the workspace file is not valid. */
  workspace: Merged | null
  /** Null if it is not on this machine. */
  recorded: Awaited<ReturnType<typeof loadLocalState>>
  /** Time, ms. */
  now: number
}

/** Maximum number of domains of which the sources are looked up: each one parses a file. */
const maxDomains = 50
/** Maximum length of a shown value. */
const maxValue = 2_000

/**
 * Describes a key or a value in Markdown: its meaning, the merged value and its source, what
 * shadows it, and its state; of a domain, what a request meets; null for nothing to say. Values of
 * secrets are never in it.
 */
export function describeSpot(hovered: Hovered): string | null {
  const { path, spot, workspace } = hovered
  const schema = findSchemaAt(path, spot.steps)
  const [first, item] = spot.steps
  const isItem = first === (path === 'edgewise.yaml' ? 'defaults' : 'config') && item !== undefined
  const parts: string[] = []
  if (schema !== null) {
    const title = spot.steps.slice(isItem ? 1 : 0).join('.')
    parts.push(`**${escapeMarkdown(title)}** ${listFacts(schema, false).join('; ')}`)
    if (schema.description !== undefined) parts.push(schema.description)
  }
  if (isItem && schema !== null && workspace !== null)
    append(parts, describeMerged(hovered, workspace, item))
  const named = workspace?.desired.get(spot.text.toLowerCase())
  if (workspace !== null && named !== undefined && /^domains?$/.test(String(first)))
    parts.push(escapeMarkdown(describeStart(workspace, spot.text.toLowerCase(), named, 'desired')))
  return parts.length === 0 ? null : parts.join('\n\n')
}

function describeMerged({ path, spot, recorded, now }: Hovered, workspace: Merged, item: ItemKey) {
  const domains = listDomains(spot, path, workspace)
  const pointer = spot.steps.slice(2).map(formatPointerStep).join('')
  const own = spot.steps.map(formatPointerStep).join('')
  const [domain] = domains
  const state = domain === undefined ? undefined : workspace.desired.get(domain)?.get(item)
  if (domain === undefined) return []
  const parts: string[] = []
  const value = resolvePointer(state?.ordered ?? state?.candidates[0], pointer)
  const find = (each: Domain) => workspace.findTextPlace(each, item, pointer)
  if (value !== undefined) {
    const place = find(domain)
    const source = place === null ? '' : ` from \`${place.file}:${place.line}\``
    const fields =
      pointer === '' && state !== undefined ? describeFields(workspace, domain, item, state) : ''
    parts.push(
      `Merged value of \`${domain}\`${fields === '' ? source : ''}:\n${fence(value)}${fields}`,
    )
  }
  const looked = domains.slice(0, maxDomains)
  const shadows = looked.flatMap((each) => {
    const place = find(each)
    if (place === null) return []
    const isHere = place.file === path && place.document === spot.index
    return isHere && own.startsWith(place.pointer) ? [] : [`\`${place.file}:${place.line}\``]
  })
  const places = [...new Set(shadows)]
  if (places.length > 0)
    parts.push(
      `*Shadowed by* ${places.slice(0, 5).join(', ')}${places.length > 5 ? ', …' : ''}` +
        (domains.length === 1
          ? ''
          : ` in ${shadows.length} of ${pluralize(looked.length, 'domain')}`),
    )
  if (domains.length > 1) parts.push(`Used by ${pluralize(domains.length, 'domain')}.`)
  const known = recorded?.get(domain)?.get(item)
  if (recorded !== null)
    parts.push(
      known === undefined
        ? `State: nothing is recorded for \`${domain}\`.`
        : `State: ${known.status}, ${formatAge(now - Date.parse(known.at))} ago (${known.at}).`,
    )
  return parts
}

/** Lists where the fields of an item come from; empty for a value without fields. */
function describeFields(
  workspace: Merged,
  domain: Domain,
  item: ItemKey,
  state: ItemState,
): string {
  return describeDomain(workspace, domain)
    .listSources(item, state)
    .filter(({ field }) => field !== '')
    .map(({ field, place }) => {
      const source = place === null ? 'the default' : `\`${place.file}:${place.line}\``
      return `\n- ${escapeMarkdown(field)}: ${source}`
    })
    .join('')
}

/** Lists the domains that have the configuration of a document. */
function listDomains({ document }: Spot, path: string, { desired, findProfiles }: Merged) {
  if (path === 'edgewise.yaml') return [...desired.keys()]
  const profile: unknown = document.get('profile')
  if (typeof profile === 'string')
    return [...desired.keys()].filter((domain) => findProfiles(domain).includes(profile))
  const named: unknown = document.get('domain')
  if (typeof named === 'string') return [named.toLowerCase()]
  const list: unknown = document.get('domains')
  const items = typeof list === 'object' && list !== null && 'items' in list ? list.items : []
  return (Array.isArray(items) ? items : []).map((entry) => String(entry).toLowerCase())
}

function fence(value: Json): string {
  const shown = JSON.stringify(
    mapSecrets(value, () => '(secret)'),
    null,
    2,
  )
  const safe = cutMiddle(shown, maxValue)
    .split('\n')
    .map(escapeInvisible)
    .join('\n')
    .replaceAll('```', '` ` `')
  return `\`\`\`json\n${safe}\n\`\`\``
}

function escapeMarkdown(text: string): string {
  return escapeInvisible(text).replaceAll(/[\\`*_{}[\]<>()#+!|-]/g, String.raw`\$&`)
}

const units: [string, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [unit = 'second', size = 1] = units.find(([, each]) => seconds >= each) ?? []
  const count = Math.floor(seconds / size)
  return `${formatCount(count)} ${unit}${count === 1 ? '' : 's'}`
}
