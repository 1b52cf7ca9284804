import type { Effects } from '../../../core/effects/group.ts'
import type { Change } from '../../../core/model/change.ts'
import { isDrifted, type Drift, type DriftItem } from '../../../core/model/drift.ts'
import { groupBy } from '../../../core/model/lists.ts'
import type { Domain } from '../../../core/model/item.ts'
import type { Page, PageNotice, PageLine } from '../../../core/model/page/page.ts'
import { formatCount, formatTime, mapSome, pluralize } from '../../../core/model/text/words.ts'
import { driftHint, formatAge, formatDriftSummary } from '../drift/text.ts'
import { shareParts, type BlockPart } from '../plan/blocks.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { buildEffects } from './build-effects.ts'
import { buildMatrix, type Cell, buildPartContent, type PartContent } from './build-matrix.ts'
import { groupRemarks } from './list-notices.ts'
import { beginPage, findCellPlace, type PageAbout } from './page-about.ts'

/** Drift, and the observed items that are not managed. */
export interface PageDrift {
  drift: Drift
  unmanaged: { domain: Domain; item: string }[]
  /** What the differences at the service do to requests; absent or null unless asked for. */
  effects?: Effects | null
}

/** Maximum number of unmanaged items, and of the domains of all of them, with a name. */
const [maxUnmanaged, maxUnmanagedDomains] = [100, 5000]

/** Builds the page of drift. `now` is in milliseconds since 1970. */
export function buildDriftPage(
  { drift, unmanaged, effects = null }: PageDrift,
  now: number,
  about: PageAbout,
): Page {
  const findContent = createContentLookup(drift)
  const cells = drift.items.flatMap((each): Cell[] => {
    if (!isDrifted(each)) return []
    const { domain, item } = each
    const place = findCellPlace(about, domain, item)
    return [{ domain, item, part: findContent(each), place, state: describeState(each, now) }]
  })
  const held = drift.items.flatMap(({ domain, item, hold }) =>
    hold === undefined ? [] : [{ kind: 'on-hold' as const, text: `${item}: ${hold}`, domain }],
  )
  const ignored = drift.items.flatMap(({ domain, item, ignored: reason }) =>
    reason === undefined
      ? []
      : [{ kind: 'ignored' as const, text: `a difference of ${item}: ${reason}`, domain }],
  )
  const next: Page['facts'] = drift.live.length === 0 ? [] : [['Next', driftHint]]
  const facts = [...about.facts, ...next]
  return {
    ...beginPage('drift', formatDriftSummary(drift, now).join(' '), { ...about, facts }),
    ...buildMatrix(cells),
    notices: [
      ...groupRemarks([...held, ...ignored], about.redact),
      ...listUnmanaged(unmanaged, about.redact),
    ],
    effects: effects === null ? undefined : buildEffects({ effects, witnesses: null }),
  }
}

/** Describes a state in words, such as `pending · assumed · confirmed 3 d ago`. */
function describeState({ kinds, confidence, recordedAt }: DriftItem, now: number): string {
  return [
    ...(kinds.length === 0 ? [] : [kinds.map(nameKind).join(' and ')]),
    ...(confidence === 'verified' ? [] : [confidence]),
    recordedAt === null
      ? 'never applied'
      : `recorded ${formatAge(now - Date.parse(recordedAt))} ago`,
  ].join(' · ')
}

/** Creates a lookup of what a page shows of an item; items that look the same share it. */
function createContentLookup(drift: Drift): (item: DriftItem) => PartContent {
  const pending = indexParts(drift.pending)
  const live = indexParts(drift.live)
  const inDoubt = new Set(drift.inDoubt.map(formatKey))
  const numbers = new Map<BlockPart | undefined, number>()
  const contents = new Map<string, PartContent>()
  const count = (part: BlockPart | undefined): number => {
    const number = numbers.get(part) ?? numbers.size
    numbers.set(part, number)
    return number
  }
  return (each) => {
    const name = formatKey(each)
    const [wanted, seen] = [pending.get(name), live.get(name)]
    const note = describeItem(each, inDoubt.has(name))
    const kinds = nameKinds(each, inDoubt.has(name))
    const key = JSON.stringify([each.item, count(wanted), count(seen), note, kinds])
    const content = contents.get(key) ?? {
      action: seen?.action ?? wanted?.action ?? 'change',
      note,
      isDestructive: false,
      kinds,
      lines: [
        ...listLines('Pending: state → manifests', wanted),
        ...listLines('At the service: state → service', seen),
      ],
    }
    contents.set(key, content)
    return content
  }
}

function nameKind(kind: DriftItem['kinds'][number]): string {
  return kind === 'live' ? 'at the service' : kind
}

/** Names the kinds of an item as the summary counts them. */
function nameKinds({ kinds, held }: DriftItem, isInDoubt: boolean): string[] {
  const named = kinds.flatMap((kind) =>
    kind === 'waiting' ? [] : held && kind === 'pending' ? 'on hold' : nameKind(kind),
  )
  return isInDoubt ? [...named, 'in-doubt'] : named
}

function indexParts(changes: Change[]): Map<string, BlockPart> {
  return new Map(shareParts(changes).map(({ change, part }) => [formatKey(change), part]))
}

function listLines(title: string, part: BlockPart | undefined): PageLine[] {
  if (part === undefined) return []
  const { note, lines } = buildPartContent(part)
  const text = note === '' ? title : `${title}; ${note}`
  return [{ action: null, indent: 0, text, isRemark: true }, ...lines]
}

function describeItem({ unreadable, hold, since }: DriftItem, isInDoubt: boolean): string {
  const where = unreadable?.pointer === '' ? '' : ` at ${unreadable?.pointer}`
  return [
    ...(hold === undefined ? [] : [`on hold ${hold}`]),
    ...(since === undefined ? [] : [`differs since ${formatTime(since)} or before`]),
    ...(isInDoubt ? ['in-doubt: an apply ended with an unknown outcome'] : []),
    ...(unreadable === undefined
      ? []
      : [escapeInvisible(`the observed value is not readable${where}: ${unreadable.reason}`)]),
  ].join('; ')
}

/** Lists the unmanaged items: the most frequent ones, and the number of the others. */
function listUnmanaged(
  unmanaged: PageDrift['unmanaged'],
  redact: (text: string) => string,
): PageNotice[] {
  const groups = [...groupBy(unmanaged, ({ item }) => item)].toSorted(
    ([, a], [, b]) => b.length - a.length,
  )
  const namesDomains = unmanaged.length <= maxUnmanagedDomains
  return mapSome(
    groups,
    maxUnmanaged,
    ([item, same]): PageNotice => ({
      kind: 'unmanaged',
      text: escapeInvisible(
        redact(`${item} of ${pluralize(same.length, 'domain')} is observed and not managed here`),
      ),
      domains: namesDomains ? same.map(({ domain }) => escapeInvisible(domain)) : [],
    }),
    (rest) => ({
      kind: 'unmanaged',
      text: `${formatCount(rest)} more items are observed and not managed here`,
      domains: [],
    }),
  )
}

function formatKey({ domain, item }: Pick<DriftItem, 'domain' | 'item'>): string {
  return `${domain} ${item}`
}
