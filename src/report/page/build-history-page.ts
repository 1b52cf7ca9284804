import type { Applied } from '../../model/applied.ts'
import { describeTree } from '../../model/source-tree.ts'
import { parseApplyId } from '../../model/group-applies.ts'
import type { Domain, ItemKey } from '../../model/item.ts'
import type { PageApply } from '../../model/page-history.ts'
import type { Page } from '../../model/page.ts'
import { pluralize } from '../../model/words.ts'
import type { PastChange } from '../apply/past-part.ts'
import { formatCounts } from '../apply/text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { formatHistorySentence } from './history-sentence.ts'
import { fitText } from './fit-page.ts'
import { buildHead, type PageAbout } from './page-about.ts'
import { PastCells } from './past-cells.ts'
import { sortForPage } from './sort-history.ts'

/** An apply of the history; `pruned` if the state before it is not stored any more. */
export type HistoryApply = Applied & { pruned?: true }

/** What a page shows of a history. */
export interface PageHistory {
  /** First to last, each with what it intended; null if that is not stored or was not loaded. */
  applies: {
    apply: HistoryApply
    changes: ReadonlyMap<Domain, ReadonlyMap<ItemKey, PastChange>> | null
  }[]
  /** Number of earlier applies that are not listed any more. */
  dropped: number
  /** Domain whose history it is, and the pruned applies that may have written it; or null. */
  domain: { name: Domain; pruned: number } | null
}

/** Maximum length of the applies in the page, in characters. */
const maxAppliesLength = 1_700_000
/** A name that needs no quotes in a shell. */
const plainName = /^[\w.-]+$/

/**
 * Builds the page of a history: a time line of the applies, the latest first, and what each of them
 * did. What does not fit is left out from the earliest applies on, with a note.
 */
export function buildHistoryPage(history: PageHistory, about: PageAbout): Page {
  const names = new Set(history.applies.flatMap(({ changes }) => [...(changes?.keys() ?? [])]))
  const cells = new PastCells(about.scrub, [...names].toSorted())
  const clean = (text: string) => escapeInvisible(about.scrub(text))
  const groups = sortForPage(history.applies)
  const applies: PageApply[] = []
  let length = 0
  for (const { apply, changes, isWave } of groups) {
    const built = buildApply(apply, isWave, history.domain?.name ?? null, clean)
    length += JSON.stringify(built).length
    if (length > maxAppliesLength) break
    const own = changes === null ? null : cells.add(changes)
    applies.push({ ...built, ...describeChanges(built, apply, changes, own), changes: own })
  }
  const missing = [...listMissing(history, groups.length - applies.length), ...cells.listMissing()]
  const facts = [...about.facts, ...missing]
  const sentence = formatHistorySentence(
    history.applies.map(({ apply }) => apply),
    history.domain?.name ?? null,
    history.dropped > 0 || (history.domain?.pruned ?? 0) > 0,
  )
  return {
    ...buildHead('history', sentence, { ...about, facts }),
    ...cells.build(),
    changes: [],
    writes: [],
    waves: [],
    apart: [],
    applies,
  }
}

function buildApply(
  apply: HistoryApply,
  isWave: boolean,
  domain: Domain | null,
  clean: (text: string) => string,
): PageApply {
  const { id, outcome, startedAt, writes, parts, author } = apply
  const tree = describeTree(apply)
  const { rollout, wave } = parseApplyId(id)
  const fit = (text: string) => fitText(clean(text), 200)
  const notSent = apply.endedAt === null ? 'never begun' : 'not sent'
  return {
    id: fit(id),
    rollout: isWave ? { id: fit(rollout), wave, rollback: formatRollback(rollout, domain) } : null,
    outcome,
    startedAt: fit(startedAt),
    took: describeLength(apply),
    author: author === null ? null : fit(author),
    tree: tree === null ? null : fit(tree),
    writes: formatCounts(writes, undefined, notSent) || 'none',
    parts: parts === undefined ? '' : formatCounts(parts, undefined, notSent),
    rollback: formatRollback(id, domain),
    note: '',
    changes: null,
  }
}

function formatRollback(id: string, domain: Domain | null): string | null {
  if (!plainName.test(id) || (domain !== null && !plainName.test(domain))) return null
  return `edgewise rollback ${id}${domain === null ? '' : ` --target ${domain}`}`
}

/** Describes whether an apply can be rolled back, and what of it is not in the page. */
function describeChanges(
  { rollback }: PageApply,
  { pruned, outcome }: HistoryApply,
  changes: PageHistory['applies'][number]['changes'],
  own: PageApply['changes'],
): Pick<PageApply, 'rollback' | 'note'> {
  const no = (note: string) => ({ rollback: null, note })
  if (pruned === true)
    return no('Pruned: what it changed is not stored any more, and it can’t be rolled back.')
  if (outcome === 'unfinished')
    return no('It has not ended, or its process died: the next command with the lock ends it.')
  if (changes?.size === 0) return no('It changed nothing, so there is nothing to roll back.')
  return { rollback, note: own === null ? leftOut : '' }
}

const leftOut =
  'What it changed is left out, since this file would be too large: ' +
  '"edgewise state history DOMAIN" lists it for a domain.'

function describeLength({ startedAt, endedAt, outcome }: Applied): string {
  if (endedAt === null)
    return outcome === 'unfinished' ? 'not finished' : 'its end was not recorded'
  const seconds = Math.max(0, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000))
  if (!Number.isFinite(seconds)) return 'not known'
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)]
  if (minutes === 0) return `${seconds} s`
  return hours === 0 ? `${minutes} min ${seconds % 60} s` : `${hours} h ${minutes % 60} min`
}

/** Lists what is not in the page, as facts: pruning is usual, and no warning. */
function listMissing({ applies, dropped, domain }: PageHistory, left: number): Page['facts'] {
  const pruned = applies.filter(({ apply }) => apply.pruned === true).length
  const count = (number: number) => pluralize(number, 'apply', 'applies')
  const mayHaveWritten = domain === null ? 0 : domain.pruned
  return [
    ...fact(pruned, 'Pruned', `${count(pruned)}, listed without changes or rollback`),
    ...fact(mayHaveWritten, 'Pruned', `${count(mayHaveWritten)}, which may have written it too`),
    ...fact(dropped, 'Not listed any more', `${count(dropped)} before these`),
    ...fact(
      left,
      'Left out',
      `${count(left)} before these, since this file would be too large: "edgewise state history" ` +
        'lists them',
    ),
  ]
}

function fact(number: number, label: string, value: string): Page['facts'] {
  return number > 0 ? [[label, value]] : []
}
