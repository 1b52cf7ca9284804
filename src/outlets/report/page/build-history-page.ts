import {
  type Act,
  type HistoryEntry,
  type LogEntry,
  type PastChanges,
  describeEntry,
  describeLength,
  nameAuthor,
  nameOutcome,
  groupApplies,
  listGrounds,
  parseApplyId,
} from '../../../core/model/applied.ts'
import type { Domain } from '../../../core/model/item.ts'
import { findMax, groupBy } from '../../../core/model/lists.ts'
import type { Page, PageApply, PageChange } from '../../../core/model/page/page.ts'
import { describeTree } from '../../../core/model/source-tree.ts'
import { formatCount, formatDay, formatInstant, pluralize } from '../../../core/model/text/words.ts'
import { formatCounts } from '../apply/text.ts'
import { fitText } from './fit-page.ts'
import { getRolloutPath } from './format-rollout.ts'
import { type PageAbout, beginPage } from './page-about.ts'
import { PastCells } from './past-cells.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** Content of the page of a history. */
export interface PageHistory {
  /** First to last, each with what it intended; null if that is not stored or was not loaded. */
  applies: {
    apply: HistoryEntry
    changes: PastChanges | null
  }[]
  /** What people did beside them, first to last; absent for nothing. */
  acts?: Act[]
  /** Number of earlier applies that are not listed any more. */
  dropped: number
  /** Domain whose history it is, and the pruned applies that may have written it; or null. */
  domain: { name: Domain; pruned: number } | null
}

/** Maximum length of the applies in the page, in characters. */
const maxAppliesLength = 1_700_000
/** Entries beside applies in the page. */
const maxActs = 300
/** A name that needs no quotes in a shell. */
const plainName = /^[\w.-]+$/

/**
 * Builds the page of a history: a time line of the applies, the latest first, and what each of them
 * did. What does not fit is left out from the earliest applies on, with a note.
 */
export function buildHistoryPage(history: PageHistory, about: PageAbout): Page {
  const names = new Set(history.applies.flatMap(({ changes }) => [...(changes?.keys() ?? [])]))
  const cells = new PastCells(about.redact, [...names].toSorted())
  const clean = (text: string) => escapeInvisible(about.redact(text))
  const fit = (text: string) => fitText(clean(text), 400)
  const groups = sortForPage(history.applies)
  const applies: PageApply[] = []
  const all: PageChange[] = []
  let length = 0
  for (const { apply, changes, isWave } of groups) {
    const built = buildApply(apply, isWave, history.domain?.name ?? null, clean)
    length += JSON.stringify(built).length
    if (length > maxAppliesLength) break
    const own = changes === null ? null : cells.add(changes, applies.length)
    const hasChanges = own !== null
    applies.push({ ...built, ...describeChanges(built, apply, changes, hasChanges), hasChanges })
    for (const change of own ?? []) all.push(change)
  }
  const rollouts = new Set(applies.map(({ rollout }) => rollout?.id))
  const acts = (history.acts ?? []).slice(-maxActs).map((act): LogEntry => {
    const { at, text, note } = describeEntry(act)
    const href = rollouts.has(act.about) ? getRolloutPath(act.about) : undefined
    return { at, text: fit(text), note: fit(note), href }
  })
  const missing = [...listMissing(history, groups.length - applies.length), ...cells.listMissing()]
  const facts = [...about.facts, ...missing]
  const sentence = formatHistorySentence(
    history.applies.map(({ apply }) => apply),
    history.domain?.name ?? null,
    history.dropped > 0 || (history.domain?.pruned ?? 0) > 0,
  )
  return {
    ...beginPage('history', sentence, { ...about, facts }),
    ...cells.build(),
    changes: all,
    applies,
    acts: acts.toReversed(),
  }
}

function buildApply(
  apply: HistoryEntry,
  isWave: boolean,
  domain: Domain | null,
  clean: (text: string) => string,
): PageApply {
  const { id, startedAt, writes, parts } = apply
  const author = nameAuthor(apply)
  const tree = describeTree(apply)
  const { rollout, wave } = parseApplyId(id)
  const fit = (text: string) => fitText(clean(text), 200)
  const notSent = apply.endedAt === null ? 'never begun' : 'not sent'
  return {
    id: fit(id),
    rollout:
      wave === 0
        ? null
        : {
            id: fit(rollout),
            wave,
            rollback: isWave ? formatRollback(rollout, domain) : null,
          },
    outcome: nameOutcome(apply),
    startedAt: fit(startedAt),
    took: describeLength(apply),
    author: author === null ? null : fit(author),
    grounds: listGrounds(apply).map(fit).join('; '),
    tree: tree === null ? null : fit(tree),
    writes: formatCounts(writes, undefined, notSent) || 'none',
    parts: parts === undefined ? '' : formatCounts(parts, undefined, notSent),
    rollback: formatRollback(id, domain),
    note: '',
    hasChanges: false,
  }
}

function formatRollback(id: string, domain: Domain | null): string | null {
  if (!plainName.test(id) || (domain !== null && !plainName.test(domain))) return null
  return `edgewise rollback ${id}${domain === null ? '' : ` --target ${domain}`}`
}

/** Describes whether an apply can be rolled back, and what of it is not in the page. */
function describeChanges(
  { rollback }: PageApply,
  { pruned, outcome, fault }: HistoryEntry,
  changes: PageHistory['applies'][number]['changes'],
  hasChanges: boolean,
): Pick<PageApply, 'rollback' | 'note'> {
  const no = (note: string) => ({ rollback: null, note })
  if (fault !== undefined) return no(fault)
  if (pruned === true)
    return no('Pruned: what it changed is not stored any more, and it can’t be rolled back.')
  if (outcome === 'unfinished')
    return no('It has not ended, or its process died: the next command with the lock ends it.')
  if (changes?.size === 0) return no('It changed nothing, so there is nothing to roll back.')
  return { rollback, note: hasChanges ? '' : leftOut }
}

const leftOut =
  'What it changed is left out, since this file would be too large: ' +
  '"edgewise state history DOMAIN" lists it for a domain.'

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

/**
 * Formats the summary of a history: how the last apply ended, then all of them.
 *
 * @param applies first to last
 * @param domain the domain whose history it is; null for all
 * @param hasEarlier whether there were earlier applies that are not listed, or may have been
 */
function formatHistorySentence(
  applies: HistoryEntry[],
  domain: string | null,
  hasEarlier: boolean,
): string {
  const [first, last] = [applies[0], applies.at(-1)]
  const of = domain === null ? '' : ` of ${domain}`
  if (first === undefined || last === undefined)
    return domain === null
      ? 'There are no applies yet.'
      : `No apply has written ${domain} as far as is stored.`
  const counts = last.outcome === 'complete' ? '' : formatCounts(last.writes, undefined, 'not sent')
  const { wave } = parseApplyId(last.id)
  const author = nameAuthor(last)
  const by = author === null ? '' : ` by ${author}`
  const tree = describeTree(last)
  const newest =
    `The last apply${of} is ${nameOutcome(last)}` +
    `${wave === 0 ? '' : ` (wave ${wave} of a rollout)`}: ` +
    `${formatInstant(last.startedAt)}${by}${tree === null ? '' : `, ${tree}`}` +
    (counts === '' ? '.' : `; writes: ${counts}.`)
  if (applies.length === 1) return hasEarlier ? `${newest} No earlier one is listed.` : newest
  const outcomes = Array.from(
    groupBy(applies, nameOutcome),
    ([outcome, same]) => `${formatCount(same.length)} ${outcome}`,
  )
  const all = `${pluralize(applies.length, 'apply', 'applies')} since ${formatDay(first.startedAt)}`
  return `${newest} ${all}: ${outcomes.join(', ')}.`
}

/**
 * Sorts applies for a page: the latest first, and the waves of one rollout together, where its last
 * wave is.
 *
 * @param applies first to last
 */
function sortForPage<T extends { apply: { id: string } }>(
  applies: readonly T[],
): (T & { isWave: boolean })[] {
  const entries = applies.map((each, position) => ({ id: each.apply.id, position, each }))
  const groups = groupApplies(entries).map((group) => ({
    group,
    last: findMax(group.map(({ position }) => position)),
  }))
  return groups
    .toSorted((a, b) => b.last - a.last)
    .flatMap(({ group }) =>
      group.toReversed().map(({ each }) => ({ ...each, isWave: group.length > 1 })),
    )
}
