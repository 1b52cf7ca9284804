import { resolve } from 'node:path'
import {
  drift as findDrift,
  observedBase,
  plan as makePlan,
  type FoundDrift,
  type LoadedWorkspace,
  type Recorded,
  type Store,
} from '../index.ts'
import { driftJson, hasDrift } from '../report/drift/json.ts'
import { driftMarkdown } from '../report/drift/markdown.ts'
import { driftText, unreadableLines } from '../report/drift/text.ts'
import { visible } from '../report/text/visible.ts'
import { carryOut } from './carry-out.ts'
import type { GuardOptions, LockOptions } from './commands/options.ts'
import { exits } from './exits.ts'
import type { CommandContext } from './io.ts'
import { withLock, type Locked } from './lock.ts'
import { observe } from './observe.ts'
import { openRecorded, validWorkspace } from './open.ts'
import { rolloutsInPlans } from './rollouts.ts'
import { writeOut } from './write-out.ts'

interface DriftOptions extends GuardOptions, LockOptions {
  observed?: string
  markdown?: string
  repair?: boolean
}

/** `edgewise drift`: where desired, recorded and observed configuration part; writes nothing unless it repairs. */
export async function drift(context: CommandContext, _args: unknown[], options: DriftOptions): Promise<number> {
  const workspace = validWorkspace(context, 'at hand')
  if (options.repair === true) {
    return withLock(context, workspace, 'drift --repair', options.lockTimeout, (record) => repair(context, workspace, options, record))
  }
  const { found } = await look(context, workspace, await openRecorded(context, workspace), options)
  return hasDrift(found.drift) ? exits.differences : exits.done
}

/** Looks and tells. */
async function look(
  context: CommandContext,
  workspace: LoadedWorkspace,
  { store, recorded }: { store: Store; recorded: Recorded },
  { observed, markdown }: DriftOptions,
): Promise<{ found: FoundDrift; at: string }> {
  const { io, paint, options } = context
  const data = observed === undefined ? null : await observe(observed, io, (text) => workspace.scrub(text))
  const found = findDrift(workspace, recorded, data, await store.rollouts())
  const now = io.clock.now()
  for (const note of found.notes) context.note(`${context.errPaint.yellow('note:')} ${visible(note)}`)
  // The JSON says that an item is unreadable, and not why.
  const unexplained = options.json === true ? unreadableLines(found.drift.items) : []
  for (const line of unexplained) context.note(`unreadable: ${line}`)
  if (markdown !== undefined) writeOut(resolve(io.cwd, markdown), driftMarkdown(found.drift, now))
  if (options.json === true) io.out(`${JSON.stringify(driftJson(found.drift))}\n`)
  else io.out(`${driftText(found.drift, now, { paint, columns: io.columns, verbose: options.verbose === true })}\n`)
  return { found, at: new Date(now).toISOString() }
}

/** Plans from what was seen, and applies like any other plan. */
async function repair(context: CommandContext, workspace: LoadedWorkspace, options: DriftOptions, locked: Locked): Promise<number> {
  const { store } = locked
  const recorded = await store.load()
  const { found, at } = await look(context, workspace, { store, recorded }, options)
  const seen = observedBase(found, recorded, workspace, at)
  const base: Recorded = new Map([...recorded, ...seen])
  const rollouts = rolloutsInPlans(await store.rollouts(), options)
  const plan = await makePlan(workspace, base, { target: [], items: [] }, { rollouts })
  if (context.options.json !== true) context.io.out('\n')
  return carryOut(context, workspace, plan, {
    ...options,
    locked,
    recorded: base,
    waves: true,
    asks: true,
    before: async () => {
      if (seen.size === 0) return
      await store.save(seen, `Observed values of ${seen.size} domains`)
      context.note(`What was observed of ${seen.size} ${seen.size === 1 ? 'domain' : 'domains'} is recorded.`)
    },
  })
}
