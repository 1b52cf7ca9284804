import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Diagnostic } from '../model/problem.ts'
import { pluralize } from '../model/words.ts'
import { formatDiagnosticsGithub } from '../report/diagnostics/github.ts'
import { formatDiagnosticsJson } from '../report/diagnostics/json.ts'
import { formatDiagnosticsSarif } from '../report/diagnostics/sarif.ts'
import { formatDiagnosticsText } from '../report/diagnostics/text.ts'
import type { Paint } from '../report/text/paint.ts'
import { openWorkspace } from './open.ts'
import type { CommandContext } from './io.ts'
import { exitCodes } from './exit-codes.ts'
import { version } from './version.ts'

export interface ValidateOptions {
  format: 'text' | 'json' | 'github' | 'sarif'
}

/** `edgewise validate`: all problems in one run; asks for no secret and no token. */
export async function validate(
  context: CommandContext,
  [paths]: unknown[],
  { format }: ValidateOptions,
): Promise<number> {
  const { io, options, paint } = context
  const workspace = readable(context)
  const found =
    workspace instanceof EdgewiseError
      ? workspace.diagnostics
      : chosen(workspace.diagnostics, workspace.root, io.cwd, paths as string[])
  const folder = workspace instanceof EdgewiseError ? '' : folderInRepository(workspace.root)
  const valid = !found.some((diagnostic) => diagnostic.severity === 'error')
  switch (options.json === true ? 'json' : format) {
    case 'json':
      io.out(formatDiagnosticsJson(found))
      break
    case 'github':
      io.out(formatDiagnosticsGithub(found, folder))
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
      if (!(workspace instanceof EdgewiseError) && valid) io.out(validLine(workspace, paint))
  }
  return valid ? exitCodes.done : exitCodes.failed
}

/**
 * The workspace, or what is wrong with edgewise.yaml itself: that is a result of this command like
 * any other.
 */
function readable(context: CommandContext): LoadedWorkspace | EdgewiseError {
  try {
    return openWorkspace(context, 'none')
  } catch (error) {
    if (error instanceof EdgewiseError && error.diagnostics.length > 0) return error
    throw error
  }
}

function validLine({ desired }: LoadedWorkspace, paint: Paint): string {
  const items = [...desired.values()].reduce((sum, own) => sum + own.size, 0)
  return `${paint.green('Valid')}: ${pluralize(desired.size, 'domain')}, ${pluralize(items, 'item')}.\n`
}

/**
 * The workspace's folder within its repository, since annotations name files from the repository's
 * root.
 */
function folderInRepository(root: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return relative(folder, root).split(sep).join('/')
    if (folder === dirname(folder)) return ''
  }
}

/**
 * The diagnostics of the files or folders that were named; a path that holds none of the
 * workspace's files is fine.
 */
function chosen(
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
        'Name files or folders of the workspace, or choose another one with -C.',
      )
    return inside
  })
  return diagnostics.filter(({ file }) =>
    prefixes.some((prefix) => prefix === '' || file === prefix || file.startsWith(`${prefix}/`)),
  )
}
