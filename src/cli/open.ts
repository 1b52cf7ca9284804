import type { ItemPlaces, Findings } from '../operations/runtime/parts.ts'
import { resolve } from 'node:path'
import { exists } from '../files/look.ts'
import { loadWorkspace, type LoadedWorkspace } from '../operations/runtime/load-workspace.ts'
import { createNoWorkspaceError, findRoot } from '../manifest/workspace-file/find-root.ts'
import type { SecretReach } from '../manifest/secrets/secret-sources.ts'
import type { Levels } from '../core/checks/levels.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { countProblems, type Diagnostic } from '../core/model/problem.ts'
import { pluralize } from '../core/model/text/words.ts'
import { formatDiagnosticsText } from '../outlets/report/diagnostics/text.ts'
import type { CommandContext } from './io.ts'

/**
 * Finds and loads the workspace of a command. Manifests may be invalid: for commands that use only
 * state or names.
 */
export function openWorkspace(
  context: CommandContext,
  reach: SecretReach,
  levels: Levels = {},
): LoadedWorkspace {
  const root = findWorkspaceRoot(context)
  return loadWorkspace(root, context.io, reach, [], levels)
}

/** Finds the folder of the workspace of a command. */
export function findWorkspaceRoot({ io, options }: CommandContext): string {
  const start = resolve(io.cwd, options.workspace ?? '.')
  if (options.workspace !== undefined && !exists(start))
    throw new EdgewiseError(
      'not-a-workspace',
      `the folder ${start} does not exist`,
      'Pass the folder of edgewise.yaml, or one below it, with -C.',
    )
  const root = findRoot(start)
  if (root === null) throw createNoWorkspaceError(start)
  return root
}

/**
 * Loads the workspace, prints its warnings on stderr, and throws `invalid` if it has errors: for
 * commands whose result depends on the manifests.
 */
export function openValidWorkspace(context: CommandContext, reach: SecretReach): LoadedWorkspace {
  const workspace = openWorkspace(context, reach)
  refuseInvalidManifests(context, workspace)
  return workspace
}

/**
 * Loads the workspace as `openValidWorkspace` does, with findings that matter for a plan.
 *
 * @param rules file for who may decide, which has them even if the manifests are refused
 */
export async function openToPlan(
  context: CommandContext,
  levels: Levels,
  rules?: string,
): Promise<LoadedWorkspace> {
  const { judgeForPlan } = await import('../operations/runtime/refuse-invalid.ts')
  const workspace = openWorkspace(context, 'available', levels)
  if (rules !== undefined)
    await (await import('./own/own-check.ts')).saveRules(rules, workspace, context.io)
  refuseInvalidManifests(context, { ...workspace, ...(await judgeForPlan(workspace)) })
  return workspace
}

/** Prints the warnings of a workspace on stderr; throws `invalid` if it has errors. */
export function refuseInvalidManifests(
  context: CommandContext,
  workspace: ItemPlaces & Findings,
): void {
  const errors = workspace.diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
  if (errors.length > 0) {
    if (context.options.json !== true)
      context.io.err(formatWorkspaceDiagnostics(workspace, errors, context))
    const shown = context.options.json === true ? errors : []
    throw new EdgewiseError(
      'invalid',
      `the manifests have ${pluralize(countProblems(errors), 'error')}; nothing was done`,
      'Correct them; "edgewise validate" lists all problems.',
      shown,
    )
  }
  if (workspace.diagnostics.length > 0)
    context.note(formatWorkspaceDiagnostics(workspace, workspace.diagnostics, context).trimEnd())
}

/** Formats diagnostics with their source lines for stderr. */
export function formatWorkspaceDiagnostics(
  workspace: ItemPlaces,
  diagnostics: Diagnostic[],
  { io, errPaint }: CommandContext,
): string {
  return formatDiagnosticsText(diagnostics, {
    findLine: (place) => workspace.findSourceLine(place),
    paint: errPaint,
    columns: io.errColumns,
  })
}
