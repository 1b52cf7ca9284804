import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  apply as carryOut,
  chosenSnapshots,
  plan as makePlan,
  refuseUnready,
  type ApplyEvent,
  type ApplyResult,
  type LoadedWorkspace,
  type Recorded,
  type Store,
} from '../index.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Plan } from '../model/plan.ts'
import { readSavedPlan, refuseStale } from '../plan/saved-plan.ts'
import { finishedLine } from '../report/apply-text.ts'
import { planJson } from '../report/plan-json.ts'
import { planText, sumLine } from '../report/plan-text.ts'
import { visible } from '../report/wrap.ts'
import { parseJson } from '../state/domain-file.ts'
import type { CommandContext } from './io.ts'
import { authorOf, withLock, type Locked } from './lock.ts'
import { firstPlanWarnings, selectionOf, validWorkspace } from './open.ts'
import { exits } from './exits.ts'
import { progressFor } from './progress.ts'

interface ApplyOptions {
  target: string[]
  item: string[]
  stopOnRefusal?: boolean
  lockTimeout: number
}

/** `edgewise apply`: takes the lock, plans, shows, asks, and carries the plan out. */
export async function apply(context: CommandContext, [planFile]: unknown[], options: ApplyOptions): Promise<number> {
  const workspace = validWorkspace(context, 'all')
  const file = typeof planFile === 'string' ? planFile : null
  return withLock(context, workspace, 'apply', options.lockTimeout, (record) => locked(context, workspace, file, options, record))
}

async function locked(
  context: CommandContext,
  workspace: LoadedWorkspace,
  planFile: string | null,
  options: ApplyOptions,
  { store, lease, lockedAt }: Locked,
): Promise<number> {
  const { io, paint } = context
  const json = context.options.json === true
  const recorded = await store.load()
  tellUnfinished(context, store, recorded)
  const plan =
    planFile === null
      ? await makePlan(workspace, recorded, selectionOf(options, workspace, recorded))
      : await savedPlan(resolve(io.cwd, planFile), workspace, recorded, options)
  for (const warning of [...(await firstPlanWarnings(workspace, store, recorded)), ...plan.warnings])
    context.note(`${context.errPaint.yellow('note:')} ${warning}`)
  const short = context.options.quiet === true && context.options.yes === true && plan.changes.length > 0
  if (!json)
    io.out(`${short ? sumLine(plan, paint) : planText(plan, { paint, columns: io.columns, verbose: context.options.verbose === true })}\n`)
  refuseUnready(workspace, plan)
  // A saved plan was looked at when it was made.
  if (plan.changes.length > 0 && planFile === null) await confirm(context, plan)

  const progress = await progressFor(context, plan.writes.length, workspace.config.limits.callsPerMinute)
  let finished: Extract<ApplyEvent, { type: 'apply.finished' }> | undefined
  const result = await carryOut(workspace, plan, store, recorded, {
    outside: io,
    lease,
    lockedAt,
    author: authorOf(io.env),
    signal: io.signal,
    isolate: options.stopOnRefusal !== true,
    tell: (event, budget) => {
      if (json) io.out(`${JSON.stringify(event)}\n`)
      else progress.tell(event, budget)
      if (event.type === 'apply.finished') finished = event
    },
  })
  progress.end()
  tellRefusals(context, workspace, result)
  if (result.unrecorded !== null)
    io.err(`${context.errPaint.red('error:')} not everything could be recorded: ${visible(result.unrecorded)}\n`)
  if (!json && finished !== undefined && plan.changes.length > 0) io.out(`${finishedLine(finished, paint)}\n`)
  return exitCode(result)
}

/** The plan of a file, if the workspace and the record still ask for exactly that. */
async function savedPlan(path: string, workspace: LoadedWorkspace, recorded: Recorded, { target, item }: ApplyOptions): Promise<Plan> {
  if (target.length + item.length > 0)
    throw new EdgewiseError('usage', 'a saved plan has its own choice of domains and items', 'Leave --target and --item out.')
  const { itemKeys } = workspace.config.service
  const itemOf = new Map(Object.entries(itemKeys).map(([key, name]) => [name, key]))
  const saved = readSavedPlan(parseJson(textOf(path)), (name) => itemOf.get(name) ?? name)
  const now = await makePlan(workspace, recorded, saved.selection)
  const { changes } = planJson(now, (key) => itemKeys[key] ?? key)
  return refuseStale(saved, now, Array.isArray(changes) ? changes : [], chosenSnapshots(workspace, recorded, saved.selection))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new EdgewiseError('usage', `the plan file ${path} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}

function exitCode(result: ApplyResult): number {
  const incomplete = result.refused + result.inDoubt + result.notSent > 0 || result.unrecorded !== null
  if (!incomplete) return exits.done
  return result.sent ? exits.incomplete : exits.failed
}

/** What earlier applies left without a certain outcome. */
function tellUnfinished(context: CommandContext, store: Store, recorded: Recorded): void {
  for (const { id, author, startedAt, writes } of store.cutOff()) {
    const count = writes.inDoubt === 1 ? '1 write' : `${writes.inDoubt} writes`
    context.note(`Apply ${id}${author === null ? '' : ` by ${visible(author)}`}, begun ${startedAt}, was cut off with ${count} in doubt.`)
  }
  const doubted = [...recorded].filter(([, items]) => [...items.values()].some((held) => held.status === 'in-doubt'))
  if (doubted.length === 0) return
  const names = doubted.slice(0, 3).map(([domain]) => domain)
  const more = doubted.length > names.length ? ` and ${doubted.length - names.length} more` : ''
  context.note(`An earlier apply left items in doubt on ${names.join(', ')}${more}; they are written again.`)
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
    io.err(`${errPaint.red('refused:')} ${visible(message)}\n`)
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
