import type { Command } from 'commander'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { DriftRequest } from '../../operations/drift.ts'
import type { Dialogue, Subject } from '../../operations/ports.ts'
import type { LoadedWorkspace } from '../../operations/load-workspace.ts'
import { pluralize } from '../../model/words.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'
import {
  addGuardOptions,
  addOlderOption,
  addSelectionOptions,
  buildGuardRequest,
  addLockOptions,
  buildLockRequest,
  type GuardOptions,
  type LockOptions,
  type SelectionOptions,
} from './options.ts'

interface DriftOptions extends GuardOptions, LockOptions, SelectionOptions {
  observed?: string
  live?: boolean
  markdown?: string
  html?: string
  accept?: boolean
  repair?: boolean
  includePending?: boolean
}

/**
 * `edgewise drift`: compares desired, recorded and observed state; writes nothing unless it
 * repairs.
 */
export function declareDrift(program: Command, declare: Declare): void {
  const command = declare<DriftOptions>(program, 'drift', {
    description: 'detect drift between manifests, state and the live service',
    examples: [
      'drift',
      'drift --observed live.json --json',
      "drift --observed './query-cdn --all' --repair",
      'drift --live',
      "drift --observed live.json --repair --target '*.shop.example.com'",
    ],
    traced: true,
    run: (context, _args, options) => chooseRun(options)(context, options),
  })
    .option('--markdown <file>', 'write the drift as Markdown, for an issue')
    .option('--html <file>', 'write the drift as a page for a browser')
    .option(
      '--observed <file|command>',
      'live configuration: a JSON file, or a program that prints it',
    )
    .option('--live', 'read the live configuration back from the service (service.readBack)')
    .option('--accept', 'ask, and record the observed values of the items that differ')
    .option('--repair', 'plan the drifted items from their observed values, ask, and apply')
    .option('--include-pending', 'with --repair: also write pending and in-doubt items')
  addSelectionOptions(command)
  addLockOptions(
    addOlderOption(addGuardOptions(command)),
    'with --repair or --accept: seconds to wait for the lock',
  )
  command.addHelpText(
    'after',
    `
--allow, --allow-older, --supersede, --force and --allow-local-state are valid
only with --repair.`,
  )
}

/** @throws EdgewiseError `usage` for options that exclude each other */
function chooseRun({ accept = false, repair = false }: DriftOptions) {
  if (accept && repair)
    throw new EdgewiseError('usage', '--accept and --repair exclude each other', 'Pass one.')
  return accept ? acceptObserved : repair ? repairDrift : showDrift
}

async function acceptObserved(context: CommandContext, options: DriftOptions): Promise<number> {
  refuseIdleOptions(options)
  const { acceptDrift } = await import('../../operations/accept-drift.ts')
  const { openValidWorkspace } = await import('../open.ts')
  const { io } = context
  const workspace = openValidWorkspace(context, 'available')
  const request = {
    target: options.target,
    items: options.item,
    ...(await buildObserve(context, workspace, options)),
    ...buildLockRequest(options),
  }
  const dialogue = await createDriftDialogue(context, workspace, options)
  const { domains, items } = await acceptDrift(workspace, request, { outside: io, dialogue })
  if (items > 0)
    context.note(`Recorded ${pluralize(items, 'item')} of ${pluralize(domains, 'domain')}.`)
  return exitCodes.done
}

/** @throws EdgewiseError `usage` when an option has an effect only with `--repair` */
function refuseIdleOptions(options: DriftOptions): void {
  const { includePending, allow, allowOlder, force, supersede } = options
  const given = [
    ...(includePending === true ? ['--include-pending'] : []),
    ...(allow.length > 0 ? ['--allow'] : []),
    ...(allowOlder === true ? ['--allow-older'] : []),
    ...(force === true ? ['--force'] : []),
    ...(supersede === true ? ['--supersede'] : []),
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
  const { hasDrift } = await import('../../report/drift/json.ts')
  const { openValidWorkspace } = await import('../open.ts')
  const { io } = context
  const workspace = openValidWorkspace(context, 'available')
  const request = {
    target: options.target,
    items: options.item,
    ...(await buildObserve(context, workspace, options)),
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
    ...buildLockRequest(options),
  }
  const dialogue = await createDriftDialogue(context, workspace, options)
  const { code } = await executeAndFinish(context, workspace, context.io, (outside) =>
    repair(workspace, request, { outside, dialogue }),
  )
  return code
}

/**
 * Builds the observe port of a request from `--observed` or `--live`.
 *
 * @throws EdgewiseError `usage` for both, or without `service.readBack`
 */
async function buildObserve(
  { io }: CommandContext,
  workspace: LoadedWorkspace,
  { observed, live = false }: DriftOptions,
): Promise<Pick<DriftRequest, 'observe' | 'observesAll'>> {
  if (live && observed !== undefined)
    throw new EdgewiseError('usage', '--observed and --live exclude each other', 'Pass one.')
  if (live) {
    const { observeLive, refuseWithoutReadBack } = await import('../../operations/observe-live.ts')
    refuseWithoutReadBack(workspace)
    return { observe: (managed) => observeLive(workspace, managed, io), observesAll: true }
  }
  if (observed === undefined) return {}
  const { observe } = await import('../../operations/observe.ts')
  return { observe: () => observe(observed, io, (text) => workspace.scrub(text)) }
}

/** Creates the terminal's dialogue, which also writes shown drift to the files of the options. */
async function createDriftDialogue(
  context: CommandContext,
  workspace: LoadedWorkspace,
  { markdown, html, target, item: items }: DriftOptions,
): Promise<Dialogue> {
  const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
  const dialogue = createTerminalDialogue(context)
  const { io } = context
  const savers: ((subject: Extract<Subject, { kind: 'drift' }>) => Promise<void>)[] = []
  const { createOutput, saveOutput } = await import('../save-file.ts')
  if (markdown !== undefined) {
    const { formatDriftMarkdown } = await import('../../report/drift/markdown.ts')
    const output = createOutput(markdown, workspace, io)
    savers.push(({ found, at }) =>
      saveOutput(output, formatDriftMarkdown(found.drift, at, found.notes)),
    )
  }
  if (html !== undefined) {
    const { buildDriftPage } = await import('../../report/page/build-drift-page.ts')
    const { createPageAbout } = await import('../../operations/page-about.ts')
    const { savePage } = await import('../page-file.ts')
    const output = createOutput(html, workspace, io)
    const selected = { target, items, ...(await workspace.findTree()) }
    savers.push(({ found, at }) => {
      const about = createPageAbout(workspace, io, selected, found.notes)
      return savePage(output, buildDriftPage(found, at, about))
    })
  }
  return {
    ...dialogue,
    show: async (subject) => {
      if (subject.kind === 'drift') for (const save of savers) await save(subject)
      await dialogue.show(subject)
    },
  }
}
