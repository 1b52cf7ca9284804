import type { Outlier } from '../../../core/checks/outliers.ts'
import type { Change } from '../../../core/model/change.ts'
import { type Json, type JsonObject, parsePointer, pickDefined } from '../../../core/model/json.ts'
import { formatPlace, type Place } from '../../../core/model/problem.ts'
import { formatCount, listSome, pluralize } from '../../../core/model/text/words.ts'
import { groupParts, type BlockPart } from '../plan/blocks.ts'
import type { PlanTextOptions } from '../plan/format-block.ts'
import { formatBlocks } from '../plan/text.ts'
import { listChangedLines } from '../plan/value-lines.ts'
import { findShape } from '../plan/value-text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'

/** Outliers that are shown, and where their domains have the values. */
export interface ShownOutliers {
  of: 'desired' | 'recorded'
  outliers: readonly Outlier[]
  /** Finds the place of a value in a manifest; null if none has it. */
  findPlace(this: void, outlier: Outlier, domain: string): Place | null
}

/** Maximum number of listed outliers, and of domains of one. */
const [maxListed, maxDomains] = [20, 10]

/**
 * Formats outliers as text: what nearly all have, then the domains that differ, as a plan draws a
 * change from the value of nearly all to theirs.
 */
export function formatOutliers(
  { outliers, findPlace }: ShownOutliers,
  options: PlanTextOptions,
): string {
  const { paint, columns, verbose } = options
  if (outliers.length === 0) return 'Nothing differs from nearly all similar domains.\n'
  const listed = verbose ? outliers : outliers.slice(0, maxListed)
  const sections = listed.map((outlier) => {
    const places = outlier.domains.flatMap(({ domain }) => findPlace(outlier, domain) ?? [])
    const names = places.map((place) => escapeInvisible(formatPlace(place)))
    const at = listSome(names, verbose ? names.length : maxDomains)
    return [
      paint.bold(wrap(describeUsual(outlier), columns, '')),
      ...formatBlocks(groupParts(listParts(outlier)), options),
      ...(at === '' ? [] : [paint.dim(wrap(`at ${at}`, columns, '    '))]),
    ].join('\n')
  })
  const rest = outliers.length - listed.length
  const more = rest > 0 ? [`${pluralize(rest, 'weaker difference')} not shown (-v shows all).`] : []
  return `${[...sections, ...more].join('\n\n')}\n`
}

/** Describes what nearly all have: `298 of 300 domains with profile video set video_drag`. */
function describeUsual({ alike, size, item, pointer, usual, domains }: Outlier): string {
  const isProfile = alike.by === 'profile'
  const group = isProfile ? `profile ${escapeInvisible(alike.profile)}` : 'the same items'
  const path = parsePointer(pointer ?? '').filter((each) => each !== '')
  const name = escapeInvisible([item, ...path].join('.'))
  const words = usual === null ? 'do not set' : pointer === null ? 'set' : 'have the same value of'
  const unset = pointer === null && usual === '"$unset"' ? ' to $unset' : ''
  const count = formatCount(size - domains.length)
  return `${count} of ${pluralize(size, 'domain')} with ${group} ${words} ${name}${unset}`
}

/** Lists what is drawn of each domain; domains with the same value share it. */
function listParts({ item, pointer, usual, domains }: Outlier) {
  const parts = new Map<string | null, BlockPart>()
  return domains.map(({ domain, value }) => {
    const part = parts.get(value) ?? buildPart(item, pointer, usual, value)
    parts.set(value, part)
    return { change: { domain }, part }
  })
}

/** What it means that a domain has an item, or has not, other than nearly all. */
const notes: Record<string, string> = { '"set"': 'is set', '"$unset"': 'reset to unset' }

function buildPart(
  item: string,
  pointer: string | null,
  usual: string | null,
  value: string | null,
): BlockPart {
  const shared = { item, isDestructive: false }
  if (pointer === null) {
    const action: Change['action'] = value === null ? 'unset' : usual === null ? 'set' : 'change'
    return { ...shared, action, note: value === null ? 'not set' : (notes[value] ?? ''), lines: [] }
  }
  const [field = ''] = parsePointer(pointer)
  const build = (text: string | null): Json | undefined => {
    const own = text === null ? undefined : (JSON.parse(text) as Json)
    return field === '' ? own : own === undefined ? {} : { [field]: own }
  }
  const lines = listChangedLines(build(usual), build(value), findShape(item))
  return { ...shared, action: 'change', note: '', lines }
}

/** Builds the JSON of outliers, `edgewise.list/1`. */
export function buildOutliersJson({ of, outliers, findPlace }: ShownOutliers): JsonObject {
  return {
    format: 'edgewise.list/1',
    of,
    total: outliers.length,
    outliers: outliers.slice(0, maxListed).map((outlier) => {
      const { alike, size, item, pointer, usual, domains } = outlier
      return pickDefined({
        profile: alike.by === 'profile' ? alike.profile : undefined,
        item,
        pointer: pointer ?? undefined,
        usual: usual ?? undefined,
        domains: size,
        differing: domains.length,
        examples: domains.slice(0, maxDomains).map(({ domain, value }) => {
          const place = findPlace(outlier, domain)
          const { file, line } = place ?? {}
          return pickDefined({ domain, value: value ?? undefined, file, line })
        }),
      })
    }),
  }
}
