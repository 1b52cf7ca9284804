import type { Plannable } from '../../operations/runtime/parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Dialogue } from '../../operations/runtime/ports.ts'
import { exitCodes } from '../exit-codes.ts'
import { readOwnEffects } from '../requests/own-effects.ts'
import type { CommandContext } from '../io.ts'
import { addObserveOptions, buildObserve, type ObserveOptions } from '../observe.ts'
import type { Declare } from './declare.ts'
import {
  addGuardOptions,
  addOlderOption,
  addReportOption,
  addSelectionOptions,
  buildGuardRequest,
  addLockOptions,
  type GuardOptions,
  hasPage,
  type LockOptions,
  type ReportOptions,
  type SelectionOptions,
} from './options.ts'

interface DriftOptions
  extends GuardOptions, LockOptions, ObserveOptions, SelectionOptions, ReportOptions {
  repair?: boolean
  includePending?: boolean
}

/**
 * `edgewise drift`: compares desired, recorded and observed state; writes nothing unless it
 * repairs.
 */
export function declareDrift(declare: Declare): void {
  const command = declare<DriftOptions>('drift', {
    description: 'detect drift between manifests, state and the live service',
    examples: [
      'drift',
      'drift --observed live.json --json',
      "drift --observed './query-cdn --all' --repair",
      'drift --live',
      "drift --observed live.json --repair --target '*.shop.example.com'",
    ],
    traced: true,
    run: (context, _args, options) =>
      options.repair === true ? repairDrift(context, options) : showDrift(context, options),
  })
  addObserveOptions(command)
    .option('--repair', 'plan the drifted items from their observed values, ask, and apply')
    .option('--include-pending', 'with --repair: also write pending and in-doubt items')
  addReportOption(addSelectionOptions(command), 'drift')
  addLockOptions(
    addOlderOption(addGuardOptions(command)),
    'with --repair: seconds to wait for the lock',
  )
  command.addHelpText(
    'after',
    `
--allow, --allow-older and --force are valid only with --repair. "edgewise
import" records observed values instead.`,
  )
}

/** @throws EdgewiseError `usage` when an option has an effect only with `--repair` */
function refuseIdleOptions(options: DriftOptions): void {
  const { includePending, allow, allowOlder, force } = options
  const given = [
    ...(includePending === true ? ['--include-pending'] : []),
    ...(allow.length > 0 ? ['--allow'] : []),
    ...(allowOlder === true ? ['--allow-older'] : []),
    ...(force === true ? ['--force'] : []),
  ]
  if (given.length === 0) return
  const are = given.length === 1 ? 'is' : 'are'
  throw new EdgewiseError(
    'usage',
    `${given.join(', ')} ${are} valid only with --repair, without which drift writes nothing`,
    'Add --repair, or remove the option.',
  )
}

async function showDrift(context: CommandContext, options: DriftOptions): Promise<number> {
  refuseIdleOptions(options)
  const { drift } = await import('../../operations/drift.ts')
  const { hasDrift } = await import('../../outlets/report/drift/json.ts')
  const { openValidWorkspace } = await import('../open.ts')
  const { io } = context
  const workspace = openValidWorkspace(context, 'available')
  const request = {
    target: options.target,
    items: options.item,
    ...(await buildObserve(context, workspace, options)),
    effects: await readOwnEffects(context, workspace),
  }
  const found = await drift(workspace, request, io)
  const dialogue = await createDriftDialogue(context, workspace, options)
  await dialogue.show({ kind: 'drift', found, at: io.clock.now() })
  if (workspace.config.notify.length > 0) {
    const { createNotifier } = await import('../notify.ts')
    const { target, item, observed, live = false } = options
    const scope = JSON.stringify([target, item, live || observed !== undefined])
    await createNotifier(context, workspace, io).notifyOfDrift(found, scope)
  }
  return hasDrift(found.drift) ? exitCodes.differences : exitCodes.done
}

async function repairDrift(context: CommandContext, options: DriftOptions): Promise<number> {
  context.io.saveMemory?.()
  const { repair } = await import('../../operations/repair.ts')
  const { executeAndFinish, openToWrite } = await import('../finish-executed.ts')
  const workspace = await openToWrite(context)
  const request = {
    target: options.target,
    items: options.item,
    includePending: options.includePending === true,
    ...buildGuardRequest(options),
    ...(await buildObserve(context, workspace, options)),
    lockTimeout: options.lockTimeout,
  }
  const dialogue = await createDriftDialogue(context, workspace, options)
  const { code } = await executeAndFinish(context, workspace, context.io, (outside) =>
    repair(workspace, request, { outside, dialogue }),
  )
  return code
}

/** Creates the terminal's dialogue, which also writes shown drift to the reports. */
async function createDriftDialogue(
  context: CommandContext,
  workspace: Plannable,
  options: DriftOptions,
): Promise<Dialogue> {
  const { createReports } = await import('../reports.ts')
  const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
  const dialogue = createTerminalDialogue(context)
  const files = createReports('drift', options, workspace, context.io)
  const { commit } = hasPage(options) ? await workspace.findTree() : { commit: null }
  const selected = { target: options.target, items: options.item, commit }
  return {
    ...dialogue,
    show: async (subject) => {
      if (subject.kind === 'drift')
        for (const file of files) await file.save({ ...subject, ...selected })
      await dialogue.show(subject)
    },
  }
}
