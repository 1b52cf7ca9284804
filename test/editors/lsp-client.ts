import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DidChangeWatchedFilesNotification,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  LogMessageNotification,
  PublishDiagnosticsNotification,
  ShutdownRequest,
  type ClientCapabilities,
  type Diagnostic,
  type ProtocolConnection,
  type Range,
  type TextDocumentPositionParams,
} from 'vscode-languageserver-protocol/node'
import { findProgram } from '../program.ts'

/** An editor that has started `edgewise lsp` for a folder. */
export class Editor {
  readonly root: string
  readonly connection: ProtocolConnection
  readonly logs: string[] = []
  readonly shown = new Map<string, Diagnostic[]>()
  readonly child: ChildProcess
  readonly #versions = new Map<string, number>()
  #onShown: (() => void)[] = []

  constructor(root: string, env: Record<string, string> = {}, options: string[] = []) {
    this.root = root
    const child = spawn(process.execPath, [...findProgram(), 'lsp', ...options], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.child = child
    this.connection = createProtocolConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    )
    this.connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
      this.shown.set(uri, diagnostics)
      for (const listener of this.#onShown.splice(0)) listener()
    })
    this.connection.onNotification(LogMessageNotification.type, ({ message }) => {
      this.logs.push(message)
    })
    this.connection.listen()
  }

  /** Writes a file to the disk. */
  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  /** Initializes the server with the folder. */
  async start(capabilities: ClientCapabilities = {}): Promise<void> {
    await this.connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: this.toUri('.'),
      workspaceFolders: [{ uri: this.toUri('.'), name: 'test' }],
      capabilities,
    })
    await this.connection.sendNotification(InitializedNotification.type, {})
  }

  toUri(path: string): string {
    return pathToFileURL(join(this.root, path)).href
  }

  async open(path: string, text: string): Promise<void> {
    this.#versions.set(path, 1)
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: this.toUri(path), languageId: 'yaml', version: 1, text },
    })
  }

  /** Replaces a range of an open text, or all of it. */
  async change(path: string, text: string, range?: Range): Promise<void> {
    const version = (this.#versions.get(path) ?? 0) + 1
    this.#versions.set(path, version)
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: this.toUri(path), version },
      contentChanges: [range === undefined ? { text } : { range, text }],
    })
  }

  /** Returns the parameters of a request at the first place of `|` in a text, which is opened. */
  async at(path: string, marked: string): Promise<TextDocumentPositionParams> {
    const before = marked.slice(0, marked.indexOf('|')).split('\n')
    await (this.#versions.has(path) ? this.change : this.open).call(
      this,
      path,
      marked.replace('|', ''),
    )
    const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
    return { textDocument: { uri: this.toUri(path) }, position }
  }

  async close(path: string): Promise<void> {
    const textDocument = { uri: this.toUri(path) }
    this.#versions.delete(path)
    await this.connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument })
  }

  /** Reports that files on the disk have changed. */
  async reportChanges(): Promise<void> {
    await this.connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes: [] })
  }

  /** Waits until the shown problems are as wanted. */
  async waitFor(isWanted: (codes: string[]) => boolean, ms = 10_000): Promise<void> {
    const end = Date.now() + ms
    while (!isWanted(this.list())) {
      const left = end - Date.now()
      if (left <= 0) throw new Error(`shown: ${this.list().join('; ')}\n${this.logs.join('\n')}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#onShown.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  /** Lists the shown problems: `domains/shop.yaml:3:5 item-unknown`, sorted. */
  list(): string[] {
    const base = `${this.toUri('.').replace(/\/$/, '')}/`
    return [...this.shown]
      .flatMap(([uri, diagnostics]) =>
        diagnostics.map(({ range: { start }, code }) => {
          const path = decodeURIComponent(uri.slice(base.length))
          return `${path}:${start.line + 1}:${start.character + 1} ${String(code)}`
        }),
      )
      .toSorted()
  }

  /** Ends the server as the protocol wants it, and returns its exit code. */
  async stop(): Promise<number | null> {
    const exited = once(this.child, 'exit')
    await this.connection.sendRequest(ShutdownRequest.type)
    await this.connection.sendNotification(ExitNotification.type)
    const [code] = (await exited) as [number | null]
    this.connection.dispose()
    return code
  }
}
