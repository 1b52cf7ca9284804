import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadWorkspace, type LoadedWorkspace } from '../operations/load-workspace.ts'
import { findRoot } from '../manifest/load-workspace.ts'
import type { SecretReach } from '../manifest/secret-sources.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Diagnostic } from '../model/problem.ts'
import { pluralize } from '../model/words.ts'
import { formatDiagnosticsText } from '../report/diagnostics/text.ts'
import type { CommandContext } from './io.ts'

/** Finds and reads the workspace that a command is about. */
export function openWorkspace(context: CommandContext, reach: SecretReach): LoadedWorkspace {
  return loadWorkspace(findWorkspaceRoot(context), context.io, reach)
}

/** The folder of the workspace that a command is about. */
export function findWorkspaceRoot({ io, options }: CommandContext): string {
  const start = resolve(io.cwd, options.workspace ?? '.')
  if (options.workspace !== undefined && !existsSync(start))
    throw new EdgewiseError(
      'not-a-workspace',
      `there is no folder ${start}`,
      'Name the folder of edgewise.yaml, or one below it, with -C.',
    )
  const root = findRoot(start)
  if (root === null) {
    throw new EdgewiseError(
      'not-a-workspace',
      `no edgewise.yaml in ${start} or above it`,
      'Run "edgewise init" to make a workspace, or name one with -C.',
    )
  }
  return root
}

/** The workspace, if it has no errors. Its warnings are told on stderr. */
export function openValidWorkspace(context: CommandContext, reach: SecretReach): LoadedWorkspace {
  const workspace = openWorkspace(context, reach)
  const errors = workspace.diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
  if (errors.length > 0) {
    if (context.options.json !== true)
      context.io.err(formatWorkspaceDiagnostics(workspace, errors, context))
    const shown = context.options.json === true ? errors : []
    throw new EdgewiseError(
      'invalid',
      `the manifests have ${errors.length === 1 ? 'an error' : pluralize(errors.length, 'error')}; nothing was planned`,
      '',
      shown,
    )
  }
  if (workspace.diagnostics.length > 0)
    context.note(formatWorkspaceDiagnostics(workspace, workspace.diagnostics, context).trimEnd())
  if (workspace.desired.size === 0)
    context.note(
      `No manifest was found: nothing matches ${workspace.config.manifests.join(', ')} in ${workspace.root}.`,
    )
  return workspace
}

/** Diagnostics in words, with the offending lines, for stderr. */
export function formatWorkspaceDiagnostics(
  workspace: LoadedWorkspace,
  diagnostics: Diagnostic[],
  { io, errPaint }: CommandContext,
): string {
  return formatDiagnosticsText(diagnostics, {
    findLine: (place) => workspace.findSourceLine(place),
    paint: errPaint,
    columns: io.columns,
  })
}
