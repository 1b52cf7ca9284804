import {
  CodeActionKind,
  type CodeAction,
  type Range,
  type TextEdit,
} from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { findNearest } from '../../core/catalog/value/nearest.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { formatYaml } from '../../manifest/yaml/format-yaml.ts'
import { planFixes } from '../../operations/fix.ts'
import type { CheckedWorkspace } from './checked-workspace.ts'
import { findSpot } from './cursor.ts'
import { toRange } from './positions.ts'
import { findProfileName, listMentions } from './profile-names.ts'
import { findSchemaAt, listKeys } from './schema-at.ts'

/** Lists what may be done about the problems in a range of a document, and `fmt`. */
export function listActions(
  workspace: CheckedWorkspace,
  path: string,
  document: TextDocument,
  range: Range,
): CodeAction[] {
  const found = workspace.diagnostics.filter(
    (each) => each.file === path && overlaps(toRange(each), range),
  )
  const { uri } = document
  const formatted = formatDocument(path, document)
  return [
    ...found.flatMap((each) => suggest(workspace, path, document, each)),
    ...removeDuplicates(workspace, found, document),
    ...(formatted.length === 0
      ? []
      : [
          {
            title: 'Format as edgewise fmt does',
            kind: CodeActionKind.Source,
            edit: { changes: { [uri]: formatted } },
          },
        ]),
  ]
}

/** Formats a document as `fmt` does; no edit for one that is formatted, or is not valid. */
export function formatDocument(path: string, document: TextDocument): TextEdit[] {
  const text = document.getText()
  const result = formatYaml({ path, text })
  return 'text' in result && result.text !== text ? [replaceAll(document, result.text)] : []
}

function replaceAll(document: TextDocument, newText: string): TextEdit {
  const end = document.positionAt(document.getText().length)
  return { range: { start: { line: 0, character: 0 }, end }, newText }
}

function overlaps(a: Range, b: Range): boolean {
  return !isBefore(a.end, b.start) && !isBefore(b.end, a.start)
}

function isBefore(a: Range['start'], b: Range['start']): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character)
}

/** Suggests the name that an unknown one was meant to be. */
function suggest(
  workspace: CheckedWorkspace,
  path: string,
  document: TextDocument,
  diagnostic: Diagnostic,
): CodeAction[] {
  const spot = findSpot(document.getText(), document.offsetAt(toRange(diagnostic).start))
  if (spot === null) return []
  const { steps, part, text, start, end } = spot
  const schema = findSchemaAt(path, part === 'key' ? steps.slice(0, -1) : steps)
  const isProfile = part === 'value' && findProfileName(steps, text) !== null
  const names = isProfile
    ? listMentions(workspace.memory).flatMap((each) => (each.isDeclaration ? each.name : []))
    : schema === null
      ? []
      : part === 'key'
        ? listKeys(schema).map(([name]) => name)
        : (schema.enum ?? []).map(String)
  const meant = names.includes(text) ? null : findNearest(text, names)
  if (meant === null) return []
  const range = { start: document.positionAt(start), end: document.positionAt(end) }
  return [
    {
      title: `Change to "${meant}"`,
      kind: CodeActionKind.QuickFix,
      isPreferred: true,
      edit: { changes: { [document.uri]: [{ range, newText: meant }] } },
    },
  ]
}

/** Removes repeated rules and redundant entries, as `validate --fix` does. */
function removeDuplicates(
  { loaded }: CheckedWorkspace,
  found: Diagnostic[],
  document: TextDocument,
): CodeAction[] {
  if (loaded === null) return []
  return planFixes(loaded, found)
    .filter(({ before }) => before === document.getText())
    .map(({ after }) => ({
      title: 'Remove what is repeated',
      kind: CodeActionKind.QuickFix,
      edit: { changes: { [document.uri]: [replaceAll(document, after)] } },
    }))
}
