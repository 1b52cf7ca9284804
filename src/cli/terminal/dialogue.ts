import { EdgewiseError } from '../../model/edgewise-error.ts'
import { pluralize, listSome } from '../../model/words.ts'
import { escapeInvisible, escapeInvisibleInLines } from '../../report/text/escape-invisible.ts'
import { formatIrreversible } from '../../report/apply/rollback-text.ts'
import { buildDriftJson } from '../../report/drift/json.ts'
import { formatDrift, listUnreadable } from '../../report/drift/text.ts'
import { formatPlan, formatPlanSummary } from '../../report/plan/text.ts'
import { formatLockHolder } from '../../state/lock.ts'
import type { Dialogue, Question, Subject } from '../../operations/ports.ts'
import type { CommandContext } from '../io.ts'
import { startProgress } from './apply-progress.ts'
import { createPlanningLine } from './planning-line.ts'
import { wrapForStderr } from './wrap-output.ts'

/** Opens the dialogue of a command with a person at a terminal, or with the log of a job. */
export function createTerminalDialogue(context: CommandContext): Dialogue {
  const { errPaint } = context
  let shown = 0
  const line = createPlanningLine(context)
  return {
    note: (text) => {
      line.end()
      context.note(escapeInvisibleInLines(text))
    },
    warn: (text) => {
      line.end()
      context.note(`${errPaint.yellow('note:')} ${escapeInvisible(text)}`)
    },
    show: (subject) => {
      line.end()
      // Of several results on stdout, each begins after a blank line.
      if (context.options.json !== true && shown > 0 && isResult(subject)) context.io.out('\n')
      if (isResult(subject)) shown++
      show(subject, context)
    },
    confirm: (question) => confirm(question, context),
    planning: line.report,
    startProgress: (extent) => startProgress(context, extent),
  }
}

function isResult({ kind }: Subject): boolean {
  return kind === 'plan' || kind === 'drift' || kind === 'lock'
}

function show(subject: Subject, context: CommandContext): void {
  switch (subject.kind) {
    case 'plan':
      return showPlan(subject, context)
    case 'drift':
      return showDrift(subject, context)
    case 'state':
      return showUnfinished(subject, context)
    case 'rollback':
      return showRollback(subject, context)
    case 'lock':
      context.io.out(`Held by ${escapeInvisible(formatLockHolder(subject.holder))}.\n`)
  }
}

function showPlan(
  { plan }: Extract<Subject, { kind: 'plan' }>,
  { io, options, paint }: CommandContext,
): void {
  if (options.json === true) return
  const short = options.quiet === true && options.yes === true && plan.changes.length > 0
  io.out(
    `${short ? formatPlanSummary(plan, paint) : formatPlan(plan, { paint, columns: io.columns, verbose: options.verbose === true })}\n`,
  )
}

function showDrift(
  { found, at }: Extract<Subject, { kind: 'drift' }>,
  { io, options, paint, note, errPaint }: CommandContext,
): void {
  for (const text of found.notes) note(`${errPaint.yellow('note:')} ${escapeInvisible(text)}`)
  // The JSON says that an item is unreadable, and not why.
  if (options.json === true)
    for (const line of listUnreadable(found.drift.items)) note(`unreadable: ${line}`)
  if (options.json === true) io.out(`${JSON.stringify(buildDriftJson(found.drift))}\n`)
  else
    io.out(
      `${formatDrift(found.drift, at, { paint, columns: io.columns, verbose: options.verbose === true })}\n`,
    )
}

/** What earlier applies left without a certain outcome. */
function showUnfinished(
  { cutOff, recorded }: Extract<Subject, { kind: 'state' }>,
  { note }: CommandContext,
): void {
  for (const { id, author, startedAt, writes } of cutOff) {
    const count = pluralize(writes.inDoubt, 'write')
    note(
      `Apply ${id}${author === null ? '' : ` by ${escapeInvisible(author)}`}, begun ${startedAt}, was cut off with ${count} in doubt.`,
    )
  }
  const inDoubt = [...recorded].flatMap(([domain, items]) =>
    [...items.values()].some(({ status }) => status === 'in-doubt') ? [domain] : [],
  )
  if (inDoubt.length > 0)
    note(`An earlier apply left items in doubt on ${listSome(inDoubt)}; they are written again.`)
}

/** Which apply is rolled back, what of it can't be, and what else goes with it. */
function showRollback(
  { rollback }: Extract<Subject, { kind: 'rollback' }>,
  { io, note, errPaint }: CommandContext,
): void {
  const { applies, plan, irreversible, later } = rollback
  const [first] = applies
  if (first === undefined) return
  const by = first.author === null ? '' : ` by ${escapeInvisible(first.author)}`
  const commit =
    first.commit === null ? '' : `, of commit ${escapeInvisible(first.commit).slice(0, 12)}`
  const what =
    applies.length === 1
      ? `apply ${escapeInvisible(first.id)}`
      : `the ${applies.length} applies from ${escapeInvisible(first.id)}`
  note(`Back to what was recorded before ${what}${by}, begun ${first.startedAt}${commit}.`)
  if (irreversible.length > 0)
    io.err(
      `${errPaint.yellow("can't be taken back:")}\n${formatIrreversible(irreversible, io.columns)}\n`,
    )
  if (later.domains.length > 0) {
    const count = pluralize(later.domains.length, 'domain')
    note(
      `${errPaint.yellow('note:')} what was recorded since of the same items goes as well: ${count} (${listSome(later.domains.map(escapeInvisible))}), by ${listSome(later.applies.map(escapeInvisible))}`,
    )
  }
  if (plan.changes.length === 0) note('Everything that it changed is as it was before.')
}

async function confirm(question: Question, { io, options }: CommandContext): Promise<boolean> {
  if (options.yes === true) return true
  const { text, refusal } = wordsFor(question)
  if (io.ask === null || (options.json === true && question.kind !== 'unlock'))
    throw new EdgewiseError('declined', ...refusal)
  return io.ask(wrapForStderr(text, io))
}

/** The question, and what is said where nobody can answer it. */
function wordsFor(question: Question): { text: string; refusal: [string, string] } {
  switch (question.kind) {
    case 'apply': {
      const count = pluralize(question.plan.writes.length, 'write')
      return {
        text: `\nApply these changes with ${count}?`,
        refusal: [
          'the plan has changes and nobody can be asked',
          'Give --yes to apply without a question.',
        ],
      }
    }
    case 'forget': {
      const count = pluralize(question.items, 'item')
      return {
        text: `Forget ${question.what} (${count})? The service keeps what it has; what a manifest mentions is written again, whole.`,
        refusal: ['nobody can be asked whether that may be forgotten', 'Give --yes to forget it.'],
      }
    }
    case 'unlock': {
      const when =
        question.noticed === 'before its next write'
          ? question.noticed
          : 'at its next sign of life, within 20 seconds'
      return {
        text: `End it? An apply that still runs then stops ${when}.`,
        refusal: ['nobody can be asked whether the lock may be ended', 'Give --yes to end it.'],
      }
    }
  }
}
