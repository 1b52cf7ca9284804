import type { Desired, ItemPlaces } from '../operations/runtime/parts.ts'
import { relative, sep } from 'node:path'
import { resolveLinks } from '../files/is-inside.ts'
import { judgeWorkspace } from '../operations/validate.ts'
import { findTop, type LoadedWorkspace } from '../operations/runtime/load-workspace.ts'
import { createFile } from '../manifest/manifests/list-files.ts'
import { loadTests } from '../manifest/tests/load-tests.ts'
import type { Levels } from '../core/checks/levels.ts'
import type { Suppressed } from '../core/checks/suppressions.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Diagnostic } from '../core/model/problem.ts'
import { pluralize } from '../core/model/text/words.ts'
import { formatDiagnosticsGithub } from '../outlets/report/diagnostics/github.ts'
import { formatDiagnosticsJson } from '../outlets/report/diagnostics/json.ts'
import { formatDiagnosticsSarif } from '../outlets/report/diagnostics/sarif.ts'
import { formatDiagnosticsText } from '../outlets/report/diagnostics/text.ts'
import { openWorkspace } from './open.ts'
import { selectFiles, type FileSelection } from './select-files.ts'
import type { LevelOptions } from './commands/options.ts'
import type { CommandContext } from './io.ts'
import { buildLevels } from './checks/levels.ts'
import { exitCodes } from './exit-codes.ts'
import { version } from './package-files.ts'

export interface ValidateOptions extends LevelOptions {
  format: 'text' | 'json' | 'github' | 'sarif'
  allowEmpty?: boolean
  fix?: boolean
}

/** `edgewise validate`: reports every problem in one run. Needs neither secrets nor the token. */
export async function validate(
  context: CommandContext,
  args: unknown[],
  options: ValidateOptions,
): Promise<number> {
  const { io, paint } = context
  const { allowEmpty = false, fix: fixes = false } = options
  const format = context.options.json === true ? 'json' : options.format
  const report = createReport(context, format)
  const workspace = tryOpenWorkspace(context, buildLevels(options))
  if (workspace instanceof EdgewiseError) {
    report(workspace.diagnostics, [], '', () => null)
    return exitCodes.failed
  }
  const judged = await judgeWorkspace(workspace, { allowEmpty }, io)
  const named = args[0] as string[]
  const { root, config } = workspace
  const tests = named.length === 0 ? null : loadTests(root, config)
  const all = [...judged.diagnostics, ...(tests?.diagnostics ?? [])]
  const files = [...workspace.files, ...(tests?.paths ?? []).map(createFile)]
  const selection = selectFiles(files, all, named, { root, cwd: io.cwd, config })
  const selected = all.filter(
    (each) => selection.includes(each) || each === workspace.findNoManifest(),
  )
  const found = selected.filter(
    ({ code, severity }) =>
      context.options.verbose === true || code !== 'rule-undecided' || severity !== 'note',
  )
  if (fixes) {
    const { fix } = await import('./checks/fix.ts')
    const print = format === 'text' ? (text: string) => io.out(text) : io.err
    if (await fix(context, workspace, found, print))
      return validate(context, args, { ...options, fix: false })
  }
  const allowed = judged.suppressed.filter(({ diagnostic }) => selection.includes(diagnostic))
  report(found, allowed, findFolderInRepository(workspace.root), workspace.findSourceLine)
  const valid = !found.some((diagnostic) => diagnostic.severity === 'error')
  const counts = formatCounts(workspace, selection)
  const undecided = selected.length - found.length
  if (undecided > 0)
    context.note(`${pluralize(undecided, 'rule')} could not be compared; see them with --verbose.`)
  if (valid && format === 'text') io.out(`${paint.green('Valid')}: ${counts}.\n`)
  else context.note(`Checked ${counts}.`)
  if (context.options.verbose === true && allowed.length > 0)
    context.note(`Comments allow ${pluralize(allowed.length, 'finding')}.`)
  return valid ? exitCodes.done : exitCodes.failed
}

/** Creates a function that prints diagnostics in a format. */
function createReport({ io, paint }: CommandContext, format: ValidateOptions['format']) {
  return (
    diagnostics: Diagnostic[],
    suppressed: Suppressed[],
    folder: string,
    findLine: ItemPlaces['findSourceLine'],
  ): void => {
    switch (format) {
      case 'json':
        return io.out(formatDiagnosticsJson(diagnostics))
      case 'github':
        return io.out(formatDiagnosticsGithub(diagnostics, folder), 'commands')
      case 'sarif':
        return io.out(formatDiagnosticsSarif(diagnostics, { version, folder, suppressed }))
      case 'text':
        return io.out(formatDiagnosticsText(diagnostics, { findLine, paint, columns: io.columns }))
    }
  }
}

/**
 * Loads the workspace, or returns the error of an invalid edgewise.yaml, which is a regular result
 * of this command.
 */
function tryOpenWorkspace(
  context: CommandContext,
  levels: Levels,
): LoadedWorkspace | EdgewiseError {
  try {
    return openWorkspace(context, 'none', levels)
  } catch (error) {
    if (error instanceof EdgewiseError && error.diagnostics.length > 0) return error
    throw error
  }
}

/** Formats what was checked: `2 domains, 5 items, 1 manifest, 1 profile in 3 files`. */
function formatCounts({ desired }: Desired, { files }: FileSelection): string {
  const count = (key: 'manifests' | 'profiles') =>
    files.reduce((total, file) => total + file[key], 0)
  const domains = new Set(files.flatMap((file) => file.domains))
  const items = [...domains].reduce((total, domain) => total + (desired.get(domain)?.size ?? 0), 0)
  return (
    `${pluralize(domains.size, 'domain')}, ${pluralize(items, 'item')}, ` +
    `${pluralize(count('manifests'), 'manifest')}, ` +
    `${pluralize(count('profiles'), 'profile')} in ${pluralize(files.length, 'file')}`
  )
}

/**
 * Finds the workspace's folder within its repository: annotations need paths from the root of the
 * repository.
 */
export function findFolderInRepository(root: string): string {
  return relative(findTop(root) ?? root, resolveLinks(root))
    .split(sep)
    .join('/')
}
