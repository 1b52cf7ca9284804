import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { validate as listDiagnostics } from '../operations/validate.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Diagnostic } from '../model/problem.ts'
import { pluralize } from '../model/words.ts'
import { formatDiagnosticsGithub } from '../report/diagnostics/github.ts'
import { formatDiagnosticsJson } from '../report/diagnostics/json.ts'
import { formatDiagnosticsSarif } from '../report/diagnostics/sarif.ts'
import { formatDiagnosticsText } from '../report/diagnostics/text.ts'
import type { Paint } from '../report/text/paint.ts'
import { noteIfEmpty, openWorkspace } from './open.ts'
import type { CommandContext } from './io.ts'
import { exitCodes } from './exit-codes.ts'
import { version } from './version.ts'

export interface ValidateOptions {
  format: 'text' | 'json' | 'github' | 'sarif'
}

/** `edgewise validate`: reports every problem in one run. Needs neither secrets nor the token. */
export async function validate(
  context: CommandContext,
  [paths]: unknown[],
  { format }: ValidateOptions,
): Promise<number> {
  const { io, options, paint } = context
  const workspace = tryOpenWorkspace(context)
  const found =
    workspace instanceof EdgewiseError
      ? workspace.diagnostics
      : selectDiagnostics(listDiagnostics(workspace), workspace.root, io.cwd, paths as string[])
  const folder = workspace instanceof EdgewiseError ? '' : findFolderInRepository(workspace.root)
  const valid = !found.some((diagnostic) => diagnostic.severity === 'error')
  switch (options.json === true ? 'json' : format) {
    case 'json':
      io.out(formatDiagnosticsJson(found))
      break
    case 'github':
      io.out(formatDiagnosticsGithub(found, folder), 'commands')
      break
    case 'sarif':
      io.out(formatDiagnosticsSarif(found, { version, folder }))
      break
    case 'text':
      io.out(
        formatDiagnosticsText(found, {
          findLine: (place) =>
            workspace instanceof EdgewiseError ? null : workspace.findSourceLine(place),
          paint,
          columns: io.columns,
        }),
      )
      if (!(workspace instanceof EdgewiseError) && valid) {
        io.out(formatValidLine(workspace, paint))
        noteIfEmpty(workspace, context)
      }
  }
  return valid ? exitCodes.done : exitCodes.failed
}

/**
 * Loads the workspace, or returns the error of an invalid edgewise.yaml, which is a regular result
 * of this command.
 */
function tryOpenWorkspace(context: CommandContext): LoadedWorkspace | EdgewiseError {
  try {
    return openWorkspace(context, 'none')
  } catch (error) {
    if (error instanceof EdgewiseError && error.diagnostics.length > 0) return error
    throw error
  }
}

function formatValidLine({ desired }: LoadedWorkspace, paint: Paint): string {
  const items = [...desired.values()].reduce((sum, own) => sum + own.size, 0)
  return (
    `${paint.green('Valid')}: ${pluralize(desired.size, 'domain')}, ` +
    `${pluralize(items, 'item')}.\n`
  )
}

/**
 * Finds the workspace's folder within its repository: annotations need paths from the root of the
 * repository.
 */
function findFolderInRepository(root: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return relative(folder, root).split(sep).join('/')
    if (folder === dirname(folder)) return ''
  }
}

/** Selects the diagnostics of the named files or folders; no name selects all. */
function selectDiagnostics(
  diagnostics: Diagnostic[],
  root: string,
  cwd: string,
  paths: string[],
): Diagnostic[] {
  if (paths.length === 0) return diagnostics
  const prefixes = paths.map((path) => {
    const inside = relative(root, resolve(cwd, path)).split(sep).join('/')
    if (inside.startsWith('..'))
      throw new EdgewiseError(
        'usage',
        `${path} is not in the workspace ${root}`,
        'Pass files or folders of the workspace, or another workspace with -C.',
      )
    if (!existsSync(resolve(cwd, path)))
      throw new EdgewiseError(
        'usage',
        `${path}: no such file or folder`,
        'Pass files or folders of the workspace, or none to check all manifests.',
      )
    return inside
  })
  return diagnostics.filter(({ file }) =>
    prefixes.some((prefix) => prefix === '' || file === prefix || file.startsWith(`${prefix}/`)),
  )
}
