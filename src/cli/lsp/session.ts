import { dirname, join } from 'node:path'
import {
  CodeActionKind,
  DiagnosticSeverity,
  DidChangeWatchedFilesNotification,
  TextDocuments,
  TextDocumentSyncKind,
  type Connection,
  type Diagnostic as EditorDiagnostic,
  type InitializeParams,
  type InitializeResult,
} from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { Diagnostic, Severity } from '../../core/model/problem.ts'
import { findRoot } from '../../manifest/workspace-file/find-root.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { CheckedWorkspace } from './checked-workspace.ts'
import { toPath, toRange, toUri, toWorkspacePath } from './positions.ts'

/** Pause after a change before a workspace is checked, ms: further keystrokes come meanwhile. */
const pauseMs = 25

const severities: Record<Severity, DiagnosticSeverity> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Information,
}

/** A file of a workspace; `path` is relative to its root. */
export interface OpenFile {
  workspace: CheckedWorkspace
  path: string
}

/** The workspaces of an editor, their open files, and the problems that it shows. */
export class LanguageSession {
  readonly documents = new TextDocuments(TextDocument)
  readonly #connection: Connection
  readonly #outside: Outside
  readonly #workspaces = new Map<string, CheckedWorkspace>()
  /** By folder: finding a root lists folders, which may have thousands of files. */
  readonly #roots = new Map<string, CheckedWorkspace>()
  readonly #timers = new Map<CheckedWorkspace, NodeJS.Timeout>()
  /** What the editor shows, as JSON, by the address of the file. */
  readonly #shown = new Map<string, { root: string; json: string }>()
  #canWatch = false

  constructor(connection: Connection, outside: Outside) {
    this.#connection = connection
    this.#outside = outside
    connection.onInitialize((params) => this.#initialize(params))
    connection.onInitialized(() => this.#watch())
    connection.onDidChangeWatchedFiles(() => this.#checkAll())
    this.documents.onDidChangeContent(({ document }) => this.#change(document, document.getText()))
    this.documents.onDidSave(() => this.#checkAll())
    this.documents.onDidClose(({ document }) => this.#change(document, null))
    this.documents.listen(connection)
  }

  /** Ends all checks. */
  end(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }

  #initialize({ capabilities, workspaceFolders, rootUri }: InitializeParams): InitializeResult {
    this.#canWatch = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true
    const folders = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri == null ? [] : [rootUri])
    for (const folder of folders) {
      const path = toPath(folder)
      const workspace = path === null ? null : this.#openAt(path)
      if (workspace !== null) this.#plan(workspace)
    }
    return {
      serverInfo: { name: 'edgewise' },
      capabilities: {
        textDocumentSync: {
          openClose: true,
          change: TextDocumentSyncKind.Incremental,
          save: { includeText: false },
        },
        hoverProvider: true,
        completionProvider: { triggerCharacters: ['{', ':', ' ', '-', '['] },
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.Source] },
        documentFormattingProvider: true,
      },
    }
  }

  /** Asks the editor to report changes of files by other programs. */
  #watch(): void {
    if (!this.#canWatch) return
    const watchers = [{ globPattern: '**/*.{yaml,yml}' }]
    this.#connection.client
      .register(DidChangeWatchedFilesNotification.type, { watchers })
      .catch((error: unknown) => this.log(error))
  }

  /** Takes the text of an open document, or with null what the disk has. */
  #change(document: TextDocument, text: string | null): void {
    const file = this.findFile(document.uri)
    if (file === null) return
    const { unsaved } = file.workspace.memory
    if (text === null) unsaved.delete(file.path)
    else unsaved.set(file.path, text)
    this.#plan(file.workspace)
  }

  /** Finds the workspace of an open document; null for a document of none. */
  findFile(uri: string): OpenFile | null {
    const path = toPath(uri)
    const workspace = path === null ? null : this.#openAt(dirname(path))
    const within =
      path === null || workspace === null ? null : toWorkspacePath(workspace.root, path)
    return workspace === null || within === null ? null : { workspace, path: within }
  }

  #openAt(folder: string): CheckedWorkspace | null {
    const found = this.#roots.get(folder)
    if (found !== undefined) return found
    let root: string | null
    try {
      root = findRoot(folder)
    } catch (error) {
      throwDefect(error)
      this.log(error)
      return null
    }
    if (root === null) return null
    const known = this.#workspaces.get(root) ?? new CheckedWorkspace(root, this.#outside)
    this.#workspaces.set(root, known)
    this.#roots.set(folder, known)
    return known
  }

  #checkAll(): void {
    this.#roots.clear()
    for (const workspace of this.#workspaces.values()) this.#plan(workspace)
  }

  #plan(workspace: CheckedWorkspace): void {
    clearTimeout(this.#timers.get(workspace))
    const run = () => {
      this.#timers.delete(workspace)
      void this.#check(workspace)
    }
    this.#timers.set(workspace, setTimeout(run, pauseMs))
  }

  /** Checks a workspace at once if a check of it is due, so that an answer rests on all texts. */
  async settle(workspace: CheckedWorkspace): Promise<void> {
    const timer = this.#timers.get(workspace)
    if (timer === undefined) return
    clearTimeout(timer)
    this.#timers.delete(workspace)
    await this.#check(workspace)
  }

  async #check(workspace: CheckedWorkspace): Promise<void> {
    try {
      if (!(await workspace.check())) return
      this.#show(workspace)
      if (!workspace.isWhole) this.#plan(workspace)
    } catch (error) {
      // The editor keeps what the last check found.
      this.log(error)
    }
  }

  #show({ root, diagnostics }: CheckedWorkspace): void {
    const byFile: Map<string, Diagnostic[]> = groupBy(diagnostics, ({ file }) =>
      toUri(join(root, file)),
    )
    for (const [uri, { root: other }] of this.#shown)
      if (other === root && !byFile.has(uri)) byFile.set(uri, [])
    const open = new Map(
      this.documents.keys().map((uri) => [toUri(toPath(uri) ?? '/'), uri] as const),
    )
    for (const [uri, found] of byFile) {
      const shown = found.map((diagnostic) => toEditor(diagnostic, root))
      const json = JSON.stringify(shown)
      if ((this.#shown.get(uri)?.json ?? '[]') === json) continue
      this.#shown.set(uri, { root, json })
      this.#connection
        .sendDiagnostics({ uri: open.get(uri) ?? uri, diagnostics: shown })
        .catch((error: unknown) => this.log(error))
    }
  }

  /** Shows an error in the editor's log. */
  log(error: unknown): void {
    const text = error instanceof EdgewiseError ? `${error.message}. ${error.hint}` : String(error)
    this.#connection.console.error(escapeInvisible(text))
  }
}

/** Converts a problem to one of the protocol. */
export function toEditor(diagnostic: Diagnostic, root: string): EditorDiagnostic {
  const { severity, code, summary, detail, related = [] } = diagnostic
  const others = related.map(({ message, ...place }) => ({
    location: { uri: toUri(join(root, place.file)), range: toRange(place) },
    message: escapeInvisible(message),
  }))
  return {
    range: toRange(diagnostic),
    severity: severities[severity],
    code,
    source: 'edgewise',
    message: escapeInvisible(`${summary}: ${detail}`),
    relatedInformation: others.length === 0 ? undefined : others,
  }
}
