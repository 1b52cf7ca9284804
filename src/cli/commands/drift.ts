import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Json } from '../../model/json.ts'
import type { Dialogue } from '../../operations/ports.ts'
import type { LoadedWorkspace } from '../../operations/load-workspace.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'
import {
  addGuardOptions,
  buildGuardRequest,
  addLockOptions,
  type GuardOptions,
  type LockOptions,
} from './options.ts'

interface DriftOptions extends GuardOptions, LockOptions {
  observed?: string
  markdown?: string
  repair?: boolean
}

/**
 * `edgewise drift`: compares desired, recorded and observed state; writes nothing unless it
 * repairs.
 */
export function declareDrift(program: Command, declare: Declare): void {
  const command = declare<DriftOptions>(program, 'drift', {
    description: 'where manifests, record and service part',
    examples: [
      'drift',
      'drift --observed held.json --json',
      "drift --observed './query-cdn --all' --repair",
    ],
    run: (context, _args, options) =>
      options.repair === true ? repairDrift(context, options) : showDrift(context, options),
  })
    .option('--markdown <file>', 'write the drift as Markdown, for an issue')
    .option(
      '--observed <file|command>',
      'what the service holds: a JSON file, or a program that prints it',
    )
    .option('--repair', 'plan from what was observed, ask, and apply')
  addLockOptions(addGuardOptions(command), 'with --repair: wait so long for an apply to end')
}

async function showDrift(context: CommandContext, options: DriftOptions): Promise<number> {
  const { drift } = await import('../../operations/drift.ts')
  const { hasDrift } = await import('../../report/drift/json.ts')
  const { openValidWorkspace } = await import('../open.ts')
  const { io } = context
  const workspace = openValidWorkspace(context, 'at hand')
  const found = await drift(workspace, await observing(context, workspace, options), io)
  const dialogue = await driftDialogue(context, options)
  dialogue.show({ kind: 'drift', found, at: io.clock.now() })
  return hasDrift(found.drift) ? exitCodes.differences : exitCodes.done
}

async function repairDrift(context: CommandContext, options: DriftOptions): Promise<number> {
  const { repair } = await import('../../operations/repair.ts')
  const { printExecuted } = await import('../terminal/print-executed.ts')
  const { openValidWorkspace } = await import('../open.ts')
  const workspace = openValidWorkspace(context, 'at hand')
  const request = {
    ...buildGuardRequest(options),
    ...(await observing(context, workspace, options)),
    lockTimeout: options.lockTimeout,
  }
  const executed = await repair(workspace, request, {
    outside: context.io,
    dialogue: await driftDialogue(context, options),
  })
  return printExecuted(context, workspace, executed)
}

/** How the service is observed, where `--observed` says it. */
async function observing(
  { io }: CommandContext,
  workspace: LoadedWorkspace,
  { observed }: DriftOptions,
): Promise<{ observe?: () => Promise<Json> }> {
  if (observed === undefined) return {}
  const { observe } = await import('../observe.ts')
  return { observe: () => observe(observed, io, (text) => workspace.scrub(text)) }
}

/** The terminal's dialogue; drift that is shown goes into the file of `--markdown` as well. */
async function driftDialogue(
  context: CommandContext,
  { markdown }: DriftOptions,
): Promise<Dialogue> {
  const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
  const dialogue = createTerminalDialogue(context)
  if (markdown === undefined) return dialogue
  const { formatDriftMarkdown } = await import('../../report/drift/markdown.ts')
  const { saveFile } = await import('../save-file.ts')
  return {
    ...dialogue,
    show: (subject) => {
      if (subject.kind === 'drift')
        saveFile(
          resolve(context.io.cwd, markdown),
          formatDriftMarkdown(subject.found.drift, subject.at),
        )
      dialogue.show(subject)
    },
  }
}
