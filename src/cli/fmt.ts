import { append } from '../model/append.ts'
import { join } from 'node:path'
import { formatYaml } from '../manifest/format-yaml.ts'
import { loadWorkspaceFiles } from '../manifest/load-workspace.ts'
import type { Diagnostic } from '../model/problem.ts'
import { formatDiagnosticsText } from '../report/diagnostics/text.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommandContext } from './io.ts'
import { findWorkspaceRoot } from './open.ts'
import { saveFile } from './save-file.ts'

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
  const { files, diagnostics } = loadWorkspaceFiles(root, io.env)
  const unreadable: Diagnostic[] = [...diagnostics]
  const changed: string[] = []
  for (const file of files) {
    const result = formatYaml(file)
    if ('diagnostics' in result) append(unreadable, result.diagnostics)
    else if ('unchanged' in result) context.note(`skipped ${file.path}: ${result.unchanged}`)
    else if (result.text !== file.text) {
      changed.push(file.path)
      if (check !== true) saveFile(join(root, file.path), result.text)
    }
  }
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
      io.out(`${check === true ? 'not formatted' : 'formatted'}  ${path}\n`)
  if (unreadable.length > 0) return exitCodes.failed
  return check === true && changed.length > 0 ? exitCodes.differences : exitCodes.done
}
