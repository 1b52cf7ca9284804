import {
  apply,
  isRollout,
  refuseUnready,
  resolveForSend,
  rollOut,
  type ApplyEvent,
  type ApplyResult,
  type LoadedWorkspace,
  type Recorded,
} from '../index.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Plan } from '../model/plan.ts'
import { finishedLine } from '../report/apply/text.ts'
import { planText, sumLine } from '../report/plan/text.ts'
import { visible } from '../report/text/visible.ts'
import type { CallBudget } from '../service/write/call-budget.ts'
import type { GuardOptions } from './commands/options.ts'
import { DefectAfterWrites, exits } from './exits.ts'
import { refuseFrozen, refuseGuarded } from './guards.ts'
import type { CommandContext } from './io.ts'
import { authorOf, type Locked } from './lock.ts'
import { firstPlanWarnings } from './open.ts'
import { progressFor } from './terminal/apply-progress.ts'
import { rolloutsBefore, type WaveOptions } from './rollouts.ts'
import { errSentences, outSentences } from './terminal/sentences.ts'

interface CarryOutOptions extends GuardOptions, WaveOptions {
  locked: Locked
  /** What the plan rests on. */
  recorded: Recorded
  /** Ask before anything is sent, unless `--yes`. */
  asks: boolean
  stopOnRefusal?: boolean
  /** Ends the id of the apply, to tell its kind in a history. */
  suffix?: string
  /** Done once the plan was agreed to and before anything is sent. */
  before?(): Promise<void>
}

/**
 * Shows a plan, holds it against the guards, asks, and carries it out while the lock is held. Every way of changing the
 * service goes through here.
 *
 * @returns the exit code
 */
export async function carryOut(context: CommandContext, workspace: LoadedWorkspace, plan: Plan, options: CarryOutOptions): Promise<number> {
  const { io, paint } = context
  const { locked, recorded } = options
  const { store } = locked
  const json = context.options.json === true
  for (const warning of [...(await firstPlanWarnings(workspace, store, recorded)), ...plan.warnings])
    context.note(`${context.errPaint.yellow('note:')} ${visible(warning)}`)
  const short = context.options.quiet === true && context.options.yes === true && plan.changes.length > 0
  if (!json)
    io.out(`${short ? sumLine(plan, paint) : planText(plan, { paint, columns: io.columns, verbose: context.options.verbose === true })}\n`)
  refuseGuarded(workspace, recorded, plan, options, io.clock.now())
  refuseUnready(workspace, plan)
  const { continued, ended, kept } = await rolloutsBefore(workspace, store, plan, options)
  if (plan.changes.length > 0 && options.asks) await confirm(context, plan)
  const inWaves = options.waves && isRollout(workspace, plan, continued)
  // Refused before anything is changed; a later wave has its turn when it begins.
  const first = inWaves ? firstWave(plan) : plan
  const { renewed } = await resolveForSend(workspace, first, recorded, io.signal)
  const other = 'has another value than is recorded; the writes send it'
  for (const name of renewed) context.note(`The secret ${visible(name)} ${other}.`)
  await options.before?.()
  if (ended.length > 0) await store.dropRollouts(ended, `Rollouts ${ended.join(', ')}: another apply takes their place`)

  for (const rollout of kept) await store.keepRollout(rollout, `Rollout ${rollout.id}: another apply tries again what it held`)

  const progress = await progressFor(context, plan.writes.length, workspace.config.limits.callsPerMinute, inWaves)
  let finished: Extract<ApplyEvent, { type: 'apply.finished' }> | undefined
  let begun = false
  const how = {
    outside: io,
    author: authorOf(io.env),
    signal: io.signal,
    isolate: options.stopOnRefusal !== true,
    tell: (event: ApplyEvent, budget: CallBudget | null) => {
      begun ||= event.type === 'write.started'
      if (json) io.out(`${JSON.stringify(event)}\n`)
      else progress.tell(event, budget)
      if (event.type === 'apply.finished') finished = event
    },
  }
  const carriedOut = inWaves
    ? rollOut(workspace, plan, store, recorded, { ...how, lock: locked, continued, guard: () => refuseFrozen(workspace, io.clock.now()) })
    : apply(workspace, plan, store, recorded, {
        ...how,
        lease: locked.lease,
        lockedAt: locked.lockedAt,
        ...(options.suffix === undefined ? {} : { suffix: options.suffix }),
      })
  const result = await carriedOut
    .finally(() => progress.end())
    .catch((error: unknown) => {
      throw begun && !(error instanceof EdgewiseError) ? new DefectAfterWrites(error) : error
    })
  tellRefusals(context, workspace, result)
  if (result.unrecorded !== null)
    io.err(`${errSentences(`${context.errPaint.red('error:')} not everything could be recorded: ${visible(result.unrecorded)}`, io)}\n`)
  if (!json && finished !== undefined && (plan.changes.length > 0 || inWaves))
    io.out(`${outSentences(finishedLine(finished, paint), io)}\n`)
  // A rollout that goes on was sent in part before.
  return exitCode(result, inWaves, continued !== null)
}

function exitCode(result: ApplyResult, inWaves: boolean, wasSent: boolean): number {
  const { refused, inDoubt, notSent, unrecorded, stopped } = result
  const incomplete = refused + inDoubt + notSent > 0 || unrecorded !== null || (inWaves && stopped !== null)
  if (!incomplete) return exits.done
  return result.sent || wasSent ? exits.incomplete : exits.failed
}

function firstWave(plan: Plan): Plan {
  const first = plan.writes.reduce((least, { wave }) => Math.min(least, wave), Infinity)
  return { ...plan, writes: plan.writes.filter(({ wave }) => wave === first) }
}

async function confirm({ io, options }: CommandContext, plan: Plan): Promise<void> {
  if (options.yes === true) return
  if (io.ask === null || options.json === true) {
    throw new EdgewiseError('declined', 'the plan has changes and nobody can be asked', 'Give --yes to apply without a question.')
  }
  const writes = plan.writes.length === 1 ? '1 write' : `${plan.writes.length} writes`
  if (!(await io.ask(`\nApply these changes with ${writes}?`))) throw new EdgewiseError('declined', 'nothing was applied')
}

/** Says at the manifests' lines what the service refused. */
function tellRefusals({ io, errPaint }: CommandContext, workspace: LoadedWorkspace, result: ApplyResult): void {
  for (const { domains, items, message } of result.refusals) {
    io.err(`${errSentences(`${errPaint.red('refused:')} ${visible(message)}`, io)}\n`)
    const places = domains.flatMap((domain) =>
      items.map((item) => {
        const place = workspace.placeOf(domain, item)
        return `  ${place === null ? '' : `${place.file}:${place.line}:${place.column} `}${item} of ${domain}`
      }),
    )
    for (const place of places.slice(0, 12)) io.err(`${place}\n`)
    if (places.length > 12) io.err(`  … and ${places.length - 12} more\n`)
  }
}
