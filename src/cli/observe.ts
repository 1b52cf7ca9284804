import type { Command } from 'commander'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { DriftRequest } from '../operations/drift.ts'
import type { Settings } from '../operations/runtime/parts.ts'
import type { CommandContext } from './io.ts'

/** Options of a command that observes the service. */
export interface ObserveOptions {
  observed?: string
  live?: boolean
}

/** Adds {@link ObserveOptions}. */
export function addObserveOptions(command: Command): Command {
  return command
    .option(
      '--observed <file|command>',
      'live configuration: a JSON file, or a program that prints it',
    )
    .option('--live', 'read the live configuration back from the service (service.readBack)')
}

/**
 * Builds the observe port of a request from `--observed` or `--live`.
 *
 * @throws EdgewiseError `usage` for both, or without `service.readBack`
 */
export async function buildObserve(
  { io }: CommandContext,
  workspace: Settings,
  { observed, live = false }: ObserveOptions,
): Promise<Pick<DriftRequest, 'observe' | 'observesAll'>> {
  if (live && observed !== undefined)
    throw new EdgewiseError('usage', '--observed and --live exclude each other', 'Pass one.')
  if (live)
    return (await import('../operations/observation/observe-live.ts')).readBack(workspace, io)
  if (observed === undefined) return {}
  const { observe } = await import('../operations/observation/observe.ts')
  const world = { ...io, env: workspace.buildProgramEnvironment('observed') }
  return { observe: () => observe(observed, world, workspace.scrub) }
}
