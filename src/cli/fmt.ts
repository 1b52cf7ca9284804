import { join } from 'node:path'
import { formatYaml } from '../manifest/format-yaml.ts'
import { loadWorkspaceFiles } from '../manifest/load-workspace.ts'
import type { SourceFile } from '../manifest/yaml-file.ts'
import { append } from '../model/append.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Diagnostic } from '../model/problem.ts'
import { listSome, pluralize } from '../model/words.ts'
import { formatDiagnosticsText } from '../report/diagnostics/text.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommandContext } from './io.ts'
import { findWorkspaceRoot } from './open.ts'
import { replaceFile } from './save-file.ts'

export interface FmtOptions {
  check?: boolean
}

/**
 * `edgewise fmt`: formats the files of the workspace in canonical order and style. Values and
 * comments stay.
 */
export async function fmt(
  context: CommandContext,
  _args: unknown[],
  { check }: FmtOptions,
): Promise<number> {
  const { io, options } = context
  const root = findWorkspaceRoot(context)
  const { files, diagnostics, globs } = loadWorkspaceFiles(root, io.env)
  const nothing = `nothing but edgewise.yaml to format: no file matches ${globs.join(', ')}`
  const isEmpty = files.length <= 1 && diagnostics.length === 0
  if (isEmpty && check === true)
    throw new EdgewiseError('usage', nothing, 'Check the folder, and the globs in edgewise.yaml.')
  const unreadable: Diagnostic[] = [...diagnostics]
  const formatted: SourceFile[] = []
  for (const file of files) {
    const result = formatYaml(file)
    if ('diagnostics' in result) append(unreadable, result.diagnostics)
    else if ('unchanged' in result)
      context.note(`skipped ${escapeInvisible(file.path)}: ${result.unchanged}`)
    else if (result.text !== file.text) formatted.push({ path: file.path, text: result.text })
  }
  const changed = formatted.map(({ path }) => path)
  if (check !== true) replaceFiles(root, formatted, io.machine.processName)
  if (unreadable.length > 0)
    io.err(
      formatDiagnosticsText(unreadable, {
        findLine: () => null,
        paint: context.errPaint,
        columns: io.columns,
      }),
    )
  if (options.json === true)
    io.out(`${JSON.stringify({ format: 'edgewise.fmt/1', check: check === true, changed })}\n`)
  else
    for (const path of changed)
      io.out(`${check === true ? 'not formatted' : 'formatted'}  ${escapeInvisible(path)}\n`)
  if (isEmpty) context.note(`${context.errPaint.yellow('note:')} ${escapeInvisible(nothing)}`)
  else context.note(`Checked ${pluralize(files.length, 'file')}.`)
  if (unreadable.some(({ severity }) => severity === 'error')) return exitCodes.failed
  return check === true && changed.length > 0 ? exitCodes.differences : exitCodes.done
}

const maxListed = 20

/** @throws EdgewiseError `usage` when a file can't be written; it and later ones are unchanged */
function replaceFiles(root: string, files: SourceFile[], temporary: string): void {
  const paths = files.map(({ path }) => path)
  for (const [i, { path, text }] of files.entries()) {
    const failure = replaceFile(join(root, path), text, temporary)
    if (failure === null) continue
    const before = i === 0 ? '' : ` Formatted: ${listSome(paths.slice(0, i), maxListed)}.`
    throw new EdgewiseError(
      'usage',
      `${join(root, path)} can't be written (${failure}).${before} ` +
        `Not formatted: ${listSome(paths.slice(i), maxListed)}`,
      'Fix the cause, then run "edgewise fmt" again.',
    )
  }
}
