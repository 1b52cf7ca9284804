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
  buildLockRequest,
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
    description: 'detect drift between manifests, state and the live service',
    examples: [
      'drift',
      'drift --observed live.json --json',
      "drift --observed './query-cdn --all' --repair",
    ],
    run: (context, _args, options) =>
      options.repair === true ? repairDrift(context, options) : showDrift(context, options),
  })
    .option('--markdown <file>', 'write the drift as Markdown, for an issue')
    .option(
      '--observed <file|command>',
      'live configuration: a JSON file, or a program that prints it',
    )
    .option('--repair', 'plan from the observed configuration, ask, and apply')
  addLockOptions(addGuardOptions(command), 'with --repair: seconds to wait for the lock')
}

async function showDrift(context: CommandContext, options: DriftOptions): Promise<number> {
  const { drift } = await import('../../operations/drift.ts')
  const { hasDrift } = await import('../../report/drift/json.ts')
  const { openValidWorkspace } = await import('../open.ts')
  const { io } = context
  const workspace = openValidWorkspace(context, 'available')
  const found = await drift(workspace, await buildObserve(context, workspace, options), io)
  const dialogue = await createDriftDialogue(context, options)
  dialogue.show({ kind: 'drift', found, at: io.clock.now() })
  return hasDrift(found.drift) ? exitCodes.differences : exitCodes.done
}

async function repairDrift(context: CommandContext, options: DriftOptions): Promise<number> {
  const { repair } = await import('../../operations/repair.ts')
  const { printExecuted } = await import('../terminal/print-executed.ts')
  const { openValidWorkspace } = await import('../open.ts')
  const workspace = openValidWorkspace(context, 'available')
  const request = {
    ...buildGuardRequest(options),
    ...(await buildObserve(context, workspace, options)),
    ...buildLockRequest(options),
  }
  const executed = await repair(workspace, request, {
    outside: context.io,
    dialogue: await createDriftDialogue(context, options),
  })
  return printExecuted(context, workspace, executed)
}

/** Builds the observe port of a request from `--observed`. */
async function buildObserve(
  { io }: CommandContext,
  workspace: LoadedWorkspace,
  { observed }: DriftOptions,
): Promise<{ observe?: () => Promise<Json> }> {
  if (observed === undefined) return {}
  const { observe } = await import('../observe.ts')
  return { observe: () => observe(observed, io, (text) => workspace.scrub(text)) }
}

/** Creates the terminal's dialogue, which also writes shown drift to the file of `--markdown`. */
async function createDriftDialogue(
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
