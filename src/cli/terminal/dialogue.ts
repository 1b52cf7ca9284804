import { formatJson } from '../../core/model/json.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { groupDomains, addUp } from '../../core/model/lists.ts'
import { selectDefinite, type Plan } from '../../core/model/plan.ts'
import { describeTree } from '../../core/model/source-tree.ts'
import { pluralize, listSome, formatTime } from '../../core/model/text/words.ts'
import {
  escapeInvisible,
  escapeInvisibleInLines,
} from '../../outlets/report/text/escape-invisible.ts'
import { formatHistory } from '../../outlets/report/apply/history-text.ts'
import {
  formatInDoubt,
  formatIrreversible,
  formatComparison,
} from '../../outlets/report/apply/notes-text.ts'
import { buildDriftJson } from '../../outlets/report/drift/json.ts'
import { formatDrift, listUnreadable } from '../../outlets/report/drift/text.ts'
import { formatPlanSummary } from '../../outlets/report/plan/summary.ts'
import { formatEffects } from '../../outlets/report/effects/text.ts'
import { formatWitnesses } from '../../outlets/report/effects/witnesses-text.ts'
import type { PlanTextOptions } from '../../outlets/report/plan/format-block.ts'
import { formatPlan } from '../../outlets/report/plan/text.ts'
import { formatLockHolder } from '../../state/format/lock-file.ts'
import type { Dialogue, Question, Subject } from '../../operations/runtime/ports.ts'
import {
  createReleaseRefusal,
  describeForeignRelease,
  releaseHint,
} from '../../operations/submission/foreign-release.ts'
import type { CommandContext } from '../io.ts'
import { startProgress } from './apply-progress.ts'
import { printMarked, wrapForStderr } from './output.ts'

/** A subject of a kind. */
type Of<Kind extends Subject['kind']> = Extract<Subject, { kind: Kind }>

/** Creates the dialogue of a command with a terminal or a log. */
export function createTerminalDialogue(context: CommandContext): Dialogue {
  let shown = 0
  return {
    note: (text) => context.note(escapeInvisibleInLines(text)),
    warn: (text) => context.warn(escapeInvisible(text)),
    show: (subject) => {
      // Several results on stdout are separated by a blank line.
      if (context.options.json !== true && shown > 0 && isResult(subject)) context.io.out('\n')
      if (isResult(subject)) shown++
      show(subject, context)
    },
    confirm: (question) => confirm(question, context),
    startProgress: async (extent) => {
      context.phases.end()
      return startProgress(context, extent)
    },
  }
}

function isResult({ kind }: Subject): boolean {
  return kind === 'plan' || kind === 'drift' || kind === 'lock'
}

function show(subject: Subject, context: CommandContext): void {
  switch (subject.kind) {
    case 'plan':
      return showPlan(subject, context)
    case 'effects':
      return showText(formatEffects, subject.effects, context)
    case 'witnesses':
      return showText(formatWitnesses, subject.witnesses, context)
    case 'compared':
      return context.note(escapeInvisible(formatComparison(subject)))
    case 'drift':
      return showDrift(subject, context)
    case 'state':
      return showUnfinished(subject, context)
    case 'rollback':
      return showRollback(subject, context)
    case 'verified':
      return showVerified(subject, context)
    case 'prune':
      return showPruned(subject, context)
    case 'lock':
      return showLock(subject, context)
  }
}

function showLock({ holder, domains }: Of<'lock'>, { io }: CommandContext): void {
  const scope = domains === null ? '' : `: ${listSome(domains.map(escapeInvisible))}`
  io.out(`Locked by ${escapeInvisible(formatLockHolder(holder))}${scope}.\n`)
}

function showPlan({ plan }: Of<'plan'>, { io, options, layout }: CommandContext): void {
  if (options.json === true) return
  const isEmpty = selectDefinite(plan).changes.length === 0
  const short = options.quiet === true && options.yes === true && !isEmpty
  const style = { ...layout, repeatsSummary: io.outIsTerminal }
  io.out(`${short ? formatPlanSummary(plan, layout.paint) : formatPlan(plan, style)}\n`)
}

/** Shows a part of a plan as a paragraph of its own. */
function showText<T>(
  format: (subject: T, style: PlanTextOptions) => string,
  subject: T,
  { io, options, layout }: CommandContext,
): void {
  if (options.json !== true) io.out(`\n${format(subject, layout)}\n`)
}

function showDrift({ found, at }: Of<'drift'>, context: CommandContext): void {
  const { options, layout, note, warn } = context
  for (const text of found.notes) warn(escapeInvisible(text))
  // The JSON does not contain the reason.
  if (options.json === true)
    for (const line of listUnreadable(found.drift.items)) note(`unreadable: ${line}`)
  context.print(
    () => buildDriftJson(found.drift, found.effects),
    () => `${formatDrift(found.drift, at, layout)}\n`,
  )
  if (found.effects) showText(formatEffects, found.effects, context)
}

function showVerified({ verified }: Of<'verified'>, context: CommandContext): void {
  const { io, options, note } = context
  const { same, notVerifiable, differs, unknown, failure } = verified
  for (const { first, domains } of groupDomains(differs, ({ item }) => item))
    printMarked(context, 'differs', `${first.item} of ${listSome(domains)}`)
  if (failure !== null) printMarked(context, 'error', `not read back: ${failure}`)
  if (options.json === true) {
    const time = new Date(io.clock.now()).toISOString()
    return io.out(formatJson({ type: 'apply.verified', time, ...verified }))
  }
  const partly = addUp(notVerifiable, ({ domains }) => domains)
  const fields = notVerifiable.map((each) => `${each.item}: ${each.fields.join(', ')}`)
  const counts = [
    [same, 'as sent'],
    [partly, `not verifiable as a whole (${fields.join('; ')})`],
    [differs.length, 'differ'],
    [unknown, 'not comparable'],
  ] as const
  const parts = counts.flatMap(([count, words]) => (count === 0 ? [] : [`${count} ${words}`]))
  note(`Read back: ${parts.join(', ')}.`)
  if (differs.length > 0) note('State keeps what was sent; "edgewise drift --live" has the values.')
}

function showPruned({ applies }: Of<'prune'>, { io, options, paint }: CommandContext): void {
  if (options.json !== true) io.out(formatHistory(applies.toReversed(), paint))
}

/** Notes interrupted applies and in-doubt items of earlier applies. */
function showUnfinished({ cutOff, recorded }: Of<'state'>, { note }: CommandContext): void {
  for (const { id, author, startedAt, writes } of cutOff) {
    const count = pluralize(writes.inDoubt, 'write')
    const rest = writes.notSent === 0 ? '' : `; ${writes.notSent} were never begun`
    note(
      `Apply ${id}${author === null ? '' : ` by ${escapeInvisible(author)}`}, ` +
        `started ${formatTime(startedAt)}, was interrupted with ${count} in-doubt${rest}.`,
    )
  }
  // The plan shows which of them it writes: domains may be on hold.
  const inDoubt = formatInDoubt(recorded)
  if (inDoubt !== null) note(`In-doubt since an earlier apply: ${inDoubt}.`)
}

/** Notes the apply to roll back, irreversible items, and later values that are replaced. */
function showRollback(
  { rollback }: Of<'rollback'>,
  { io, note, warn, errPaint }: CommandContext,
): void {
  const { applies, plan, irreversible, later } = rollback
  const [first] = applies
  if (first === undefined) return
  const by = first.author === null ? '' : ` by ${escapeInvisible(first.author)}`
  const tree = describeTree(first)
  const from = tree === null ? '' : `, ${escapeInvisible(tree)}`
  const applyNames =
    applies.length === 1
      ? `apply ${escapeInvisible(first.id)}`
      : `the ${applies.length} applies from ${escapeInvisible(first.id)}`
  const started = `started ${formatTime(first.startedAt)}`
  note(`Rolling back to the state before ${applyNames}${by}, ${started}${from}.`)
  if (irreversible.length > 0)
    io.err(
      `${errPaint.yellow("can't be rolled back:")}\n` +
        `${formatIrreversible(irreversible, io.errColumns)}\n`,
    )
  if (later.domains.length > 0) {
    const count = pluralize(later.domains.length, 'domain')
    const name = (id: string) =>
      escapeInvisible(id) + (later.ofOthers.includes(id) ? ', an apply of another workspace' : '')
    warn(
      `later values of the same items are replaced too: ${count} ` +
        `(${listSome(later.domains.map(escapeInvisible))}), ` +
        `recorded by ${listSome(later.applies.map(name))}`,
    )
  }
  if (plan.changes.length === 0) note('Nothing to roll back: its changes are already reverted.')
}

async function confirm(question: Question, { io, options }: CommandContext): Promise<boolean> {
  if (question.kind === 'older') {
    if (options.json === true || io.ask === null) throw question.refusal
    return io.ask(wrapForStderr(`\n${question.text}. Apply them nevertheless?`, io))
  }
  if (question.kind === 'release') {
    if (options.json === true || io.ask === null) throw createReleaseRefusal(question)
  } else if (options.yes === true && question.kind !== 'number') return true
  const { text, hint } = buildPrompt(question)
  if (options.json === true && question.kind !== 'unlock')
    throw new EdgewiseError('declined', 'cannot prompt with --json', hint)
  if (io.ask === null)
    throw new EdgewiseError('declined', 'cannot prompt: stdin or stderr is not a terminal', hint)
  return io.ask(wrapForStderr(text, io))
}

/** Describes what an apply would do, as a question. */
function describeApply(plan: Plan): string {
  const { changes, writes } = selectDefinite(plan)
  const { conditional } = plan.summary
  const secrets = pluralize(conditional, 'secret')
  if (changes.length === 0 && conditional > 0) return `Compare ${secrets}, and send what differs?`
  if (changes.length === 0) return 'Give up the values that stay?'
  const also = conditional === 0 ? '' : `, and compare ${secrets}`
  return `Apply these changes with ${pluralize(writes.length, 'write')}${also}?`
}

/** A question for a terminal, and the hint if it can't be asked. */
interface Prompt {
  text: string
  hint: string
}

/** Builds the prompt of a question. */
function buildPrompt(question: Exclude<Question, { kind: 'older' }>): Prompt {
  switch (question.kind) {
    case 'apply':
      return createYesPrompt('apply', `\n${describeApply(question.plan)}`)
    case 'accept':
      return createYesPrompt(
        'accept',
        `\nRecord the observed values of ${pluralize(question.items, 'item')} of ` +
          `${pluralize(question.domains, 'domain')}? Nothing is sent to the service.`,
      )
    case 'number':
      return {
        hint: 'Run it at a terminal, or write a manifest with them.',
        text:
          'The service never shows the order of header rules ' +
          `(${pluralize(question.rules, 'rule')} of head_control of ` +
          `${pluralize(question.domains, 'domain')}). ` +
          'Number them 1, 2, 3 … as they come? The next apply sends these numbers.',
      }
    case 'forget':
      return createYesPrompt(
        'forget',
        `Forget ${question.what} (${pluralize(question.items, 'item')})? The service keeps its ` +
          'configuration; items in manifests are written again as a whole.',
      )
    case 'move':
      return createYesPrompt(
        'move',
        `Hand ${question.what} (${pluralize(question.items, 'item')}) over to the workspace ` +
          `"${question.to}"? This workspace then no longer manages them.`,
      )
    case 'migrate':
      return createYesPrompt(
        'migrate',
        `Copy the state of ${pluralize(question.domains, 'domain')} to ${question.to}? ` +
          'Commands then refuse the state here.',
      )
    case 'prune':
      return createYesPrompt(
        'prune',
        `Prune ${pluralize(question.applies, 'apply', 'applies')}? They stay in the history, ` +
          "but can't be rolled back any more.",
      )
    case 'fix':
      return createYesPrompt('write', `Write ${pluralize(question.files, 'file')}?`)
    case 'release':
      return {
        text: `\n${describeForeignRelease(question)}. Is this the workspace that applied them?`,
        hint: releaseHint,
      }
    case 'unlock':
      return createYesPrompt(
        'remove the lock',
        'Remove the lock? An apply that still runs sends nothing more after 5 seconds; the ' +
          'next command waits until then, and until its calls have ended.',
      )
  }
}

/** Creates a prompt with the hint to pass `--yes` for this action. */
function createYesPrompt(action: string, text: string): Prompt {
  return { text, hint: `Pass --yes to ${action} without a prompt.` }
}
