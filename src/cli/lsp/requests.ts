import { join } from 'node:path'
import {
  LSPErrorCodes,
  MarkupKind,
  ResponseError,
  type Connection,
  type Hover,
  type Location,
  type Position,
  type TextDocumentIdentifier,
  type TextDocumentPositionParams,
  type TextEdit,
  type WorkspaceEdit,
  CodeActionKind,
  type CodeAction,
  type Range,
} from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { isObject } from '../../core/model/json.ts'
import type { Place, Diagnostic } from '../../core/model/problem.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import { isProfileName } from '../../manifest/manifests/parse-document.ts'
import type { CheckedWorkspace } from './checked-workspace.ts'
import { complete } from './completion.ts'
import { findSpot, type Spot } from './cursor.ts'
import { describeSpot } from './hover.ts'
import { toRange, toUri } from './positions.ts'
import { findMentions, findProfileName, listMentions } from './profile-names.ts'
import type { LanguageSession, OpenFile } from './session.ts'
import { findNearest } from '../../core/catalog/value/nearest.ts'
import { formatYaml } from '../../manifest/yaml/format-yaml.ts'
import { planFixes } from '../../operations/fix.ts'
import { findSchemaAt, listKeys } from './schema-at.ts'

/** An open document of a workspace, and what stands at a position of it. */
interface Asked extends OpenFile {
  document: TextDocument
  position: Position
  spot: Spot | null
}

/** Answers the editor's questions about a position. */
export function answerRequests(
  connection: Connection,
  session: LanguageSession,
  outside: Outside,
): void {
  const find = async ({ uri }: TextDocumentIdentifier) => {
    const document = session.documents.get(uri)
    const file = document === undefined ? null : session.findFile(uri)
    if (document === undefined || file === null) return null
    await session.settle(file.workspace)
    return { ...file, document }
  }
  const ask = async (params: TextDocumentPositionParams): Promise<Asked | null> => {
    const { position } = params
    const found = await find(params.textDocument)
    if (found === null) return null
    const { document } = found
    const spot = findSpot(document.getText(), document.offsetAt(position))
    return { ...found, position, spot }
  }
  connection.onHover(async (params) => {
    const asked = await ask(params)
    return asked === null ? null : hover(asked, outside)
  })
  connection.onCompletion(async (params) => {
    const asked = await ask(params)
    return asked === null ? null : listCompletions(asked)
  })
  connection.onDefinition(async (params) => locate(await ask(params), 'declarations'))
  connection.onReferences(async (params) =>
    locate(await ask(params), params.context.includeDeclaration ? 'all' : 'uses'),
  )
  connection.onRenameRequest(async (params) => rename(await ask(params), params.newName))
  connection.onCodeAction(async ({ textDocument, range }) => {
    const found = await find(textDocument)
    return found && listActions(found.workspace, found.path, found.document, range)
  })
  connection.onDocumentFormatting(async ({ textDocument }) => {
    const found = await find(textDocument)
    return found && formatDocument(found.path, found.document)
  })
}

async function hover(
  { workspace, path, spot, document }: Asked,
  outside: Outside,
): Promise<Hover | null> {
  if (spot === null) return null
  const recorded = await workspace.loadRecorded()
  const { loaded } = workspace
  const now = outside.clock.now()
  const value = describeSpot({ path, spot, workspace: loaded, recorded, now })
  if (value === null) return null
  const range = { start: document.positionAt(spot.start), end: document.positionAt(spot.end) }
  return { contents: { kind: MarkupKind.Markdown, value }, range }
}

function listCompletions({ workspace, path, document, position }: Asked) {
  const before = document.getText({ start: { line: 0, character: 0 }, end: position })
  const profiles = listMentions(workspace.memory).filter(({ isDeclaration }) => isDeclaration)
  return complete(
    { path, before, ...position },
    {
      profiles: profiles.map(({ name }) => name),
      variables: listVariables(workspace),
      secrets: Object.keys(workspace.loaded?.config.secrets ?? {}),
    },
  )
}

/** Lists the variables of all documents that are kept with their values, as profiles are. */
function listVariables({ memory }: CheckedWorkspace): string[] {
  return memory.listDocuments().flatMap((each) => {
    const vars = 'kind' in each || !isObject(each.value) ? undefined : each.value['vars']
    return isObject(vars) ? Object.keys(vars) : []
  })
}

/**
 * Renames a profile where it is declared and wherever it is listed.
 *
 * @throws ResponseError for a name that can't be one, and if a file can't be read as YAML
 */
function rename(asked: Asked | null, newName: string): WorkspaceEdit | null {
  const name = findAskedProfile(asked)
  if (asked === null || name === null) return null
  const { workspace } = asked
  const broken = workspace.diagnostics.find(({ code }) => /^(?:yaml|file)-/.test(code))
  const reason = !isProfileName(newName)
    ? 'A name of a profile has up to 64 letters, digits, ".", "_", "/" and "-".'
    : findMentions(workspace.memory, newName, 'declarations').length > 0
      ? `There is a profile "${newName}" already.`
      : broken !== undefined
        ? `${broken.file}:${broken.line} may name the profile too, and can't be read. Correct it.`
        : null
  if (reason !== null) throw new ResponseError(LSPErrorCodes.RequestFailed, reason)
  const isPlain = /^[A-Za-z]/.test(newName) && !/^(?:true|false|null)$/i.test(newName)
  const newText = isPlain ? newName : `"${newName}"`
  const changes: Record<string, TextEdit[]> = {}
  for (const { uri, range } of locate(asked, 'all') ?? [])
    (changes[uri] ??= []).push({ range, newText })
  return { changes }
}

/** Returns the name of the profile at the asked position; null elsewhere. */
function findAskedProfile(asked: Asked | null): string | null {
  const spot = asked?.spot ?? null
  return spot === null || spot.part === 'key' ? null : findProfileName(spot.steps, spot.text)
}

function locate(asked: Asked | null, which: 'declarations' | 'uses' | 'all'): Location[] | null {
  const name = findAskedProfile(asked)
  if (asked === null || name === null) return null
  const { workspace } = asked
  return findMentions(workspace.memory, name, which).map((place) => toLocation(workspace, place))
}

function toLocation({ root }: CheckedWorkspace, place: Place): Location {
  return { uri: toUri(join(root, place.file)), range: toRange(place) }
}

/** Lists what may be done about the problems in a range of a document, and `fmt`. */
function listActions(
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
function formatDocument(path: string, document: TextDocument): TextEdit[] {
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
