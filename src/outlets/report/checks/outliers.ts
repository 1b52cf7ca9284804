import type { Outlier } from '../../../core/checks/outliers.ts'
import { type JsonObject, parsePointer, pickDefined } from '../../../core/model/json.ts'
import { formatPlace, type Place } from '../../../core/model/problem.ts'
import { formatCount, mapSome, pluralize } from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { cutMiddle, wrap } from '../text/wrap.ts'

/** Outliers that are shown, and where their domains have the values. */
export interface ShownOutliers {
  outliers: readonly Outlier[]
  /** Finds the place of a value in a manifest; null if none has it. */
  findPlace(this: void, outlier: Outlier, domain: string): Place | null
}

/** Maximum number of listed outliers, and of domains of one. */
const [maxListed, maxDomains] = [20, 10]
const maxValue = 60

/** Formats outliers as text: what nearly all have, then the domains that differ, with places. */
export function formatOutliers(
  { outliers, findPlace }: ShownOutliers,
  { paint, columns }: { paint: Paint; columns: number },
): string {
  if (outliers.length === 0) return 'Nothing differs from nearly all similar domains.\n'
  const formatOne = (outlier: Outlier) => {
    const listed = mapSome(
      outlier.domains,
      maxDomains,
      ({ domain, value }) => {
        const place = findPlace(outlier, domain)
        const at = place === null ? '' : `  (${escapeInvisible(formatPlace(place))})`
        return wrap(`${domain}: ${describeValue(value)}${at}`, columns, '  ')
      },
      (rest) => `  and ${pluralize(rest, 'more domain')}`,
    )
    return [paint.bold(wrap(describeUsual(outlier), columns, '')), ...listed].join('\n')
  }
  const countRest = (rest: number) => `${pluralize(rest, 'weaker difference')} not shown.`
  return `${mapSome(outliers, maxListed, formatOne, countRest).join('\n\n')}\n`
}

/** Describes what nearly all have: `298 of 300 domains with profile video set video_drag`. */
function describeUsual(outlier: Outlier): string {
  const { alike, size, item, pointer, usual, domains } = outlier
  const isProfile = alike.by === 'profile'
  const group = isProfile ? `profile ${escapeInvisible(alike.profile)}` : 'the same items'
  const name = [
    item,
    ...(pointer === null ? [] : parsePointer(pointer).filter((each) => each !== '')),
  ]
  const isSet = pointer === null && usual !== '"$unset"'
  const has = isSet
    ? `${usual === null ? 'do not set' : 'set'} ${item}`
    : `have ${escapeInvisible(name.join('.'))} ${describeValue(usual)}`
  const count = formatCount(size - domains.length)
  return `${count} of ${pluralize(size, 'domain')} with ${group} ${has}`
}

function describeValue(value: string | null): string {
  if (value === null) return 'not set'
  const text = value.startsWith('"') ? String(JSON.parse(value)) : value
  return escapeInvisible(cutMiddle(text, maxValue))
}

/** Builds the JSON of outliers, `edgewise.check/1`. */
export function buildOutliersJson({ outliers, findPlace }: ShownOutliers): JsonObject {
  return {
    format: 'edgewise.check/1',
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
