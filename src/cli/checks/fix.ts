import type { Settings, Desired, Findings, ItemPlaces } from '../../operations/runtime/parts.ts'
import { CancelledError } from '../../core/model/edgewise-error.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { createSourceLineLookup } from '../../manifest/yaml/source-line.ts'
import { type FixedFile, planFixes, writeFixes } from '../../operations/fix.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { formatUnifiedDiff } from '../../outlets/report/text/unified-diff.ts'
import type { CommandContext } from '../io.ts'
import { createTerminalDialogue } from '../terminal/dialogue.ts'

/**
 * Shows what can be removed without an effect as a diff, asks, and writes it. Secrets in its lines
 * are masked.
 *
 * @param print prints the diff
 * @returns whether files were written
 * @throws CancelledError if the answer is no, EdgewiseError `declined` if nobody can be asked
 */
export async function fix(
  context: CommandContext,
  workspace: Settings & Desired & Findings & ItemPlaces,
  found: readonly Diagnostic[],
  print: (text: string) => void,
): Promise<boolean> {
  const files = planFixes(workspace, found)
  if (files.length === 0) {
    context.note('There is nothing to fix.')
    return false
  }
  print(files.map(formatFile).join(''))
  const question = { kind: 'fix', files: files.length } as const
  if (!(await createTerminalDialogue(context).confirm(question)))
    throw new CancelledError('Fix cancelled: nothing was written')
  writeFixes(workspace, files, context.io)
  return true
}

function formatFile({ path, before, after }: FixedFile): string {
  const find = {
    before: createSourceLineLookup(() => [{ path, text: before }]),
    after: createSourceLineLookup(() => [{ path, text: after }]),
  }
  return formatUnifiedDiff(escapeInvisible(path), before, after, (side, line) => {
    const place = { file: path, line, column: 1, endLine: line, endColumn: 1 }
    return escapeInvisible(find[side](place) ?? '')
  })
}
