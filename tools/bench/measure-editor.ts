import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  createProtocolConnection,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node'
import { buildManifest } from './fleet.ts'
import { adoptFleet } from './measure-manifests.ts'
import { findMedian } from './measure.ts'
import { createRow, type Row } from './row.ts'
import { program, type Workbench } from './workbench.ts'

/**
 * Measures the language server with a fleet whose state is in a folder: the time from an edit to
 * its problems, the wait of another request meanwhile, and the memory.
 */
export async function measureEditor(
  bench: Workbench,
  domains: number,
  rounds: number,
): Promise<Row[]> {
  const editor = new Editor(bench, adoptFleet(bench, domains, 'state: {store: dir}'))
  await editor.start(buildManifest(7, 0))
  const [edits, answers]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++)
    for (const name of ['origin_hots', 'origin_host']) {
      let isShown = false
      const text = buildManifest(7, 0).replace('origin_host', name)
      const edit = time(() => editor.edit(text)).finally(() => (isShown = true))
      while (!isShown) answers.push(await time(() => editor.hover()))
      edits.push(await edit)
    }
  const mb = editor.measureMemory()
  await editor.stop()
  const of = `${domains} domains`
  return [
    createRow('editor-edit', `edit to problems in an editor, ${of}`, 's', findMedian(edits), 0.2),
    createRow(
      'editor-wait',
      'longest wait of another request meanwhile',
      's',
      answers.reduce((a, b) => Math.max(a, b), 0),
    ),
    createRow('editor-memory', `memory of the language server, ${of}`, 'MB', mb, 250),
  ]
}

/** Measures the time of some work, seconds. */
async function time(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

/** An editor with one open manifest. */
class Editor {
  readonly #folder: string
  readonly #uri: string
  readonly #child
  readonly #connection
  #onShown: () => void = () => undefined
  #version = 1

  constructor({ env }: Workbench, folder: string) {
    this.#folder = folder
    this.#uri = pathToFileURL(join(folder, 'domains/d7.yaml')).href
    this.#child = spawn(process.execPath, [program, 'lsp', '--stdio'], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#connection = createProtocolConnection(
      new StreamMessageReader(this.#child.stdout),
      new StreamMessageWriter(this.#child.stdin),
    )
    this.#connection.onNotification(PublishDiagnosticsNotification.type, () => this.#onShown())
    this.#connection.listen()
  }

  /** Starts the server; the first edit waits until the fleet is loaded. */
  async start(text: string): Promise<void> {
    const rootUri = pathToFileURL(this.#folder).href
    await this.#connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri,
      capabilities: {},
    })
    await this.#connection.sendNotification(InitializedNotification.type, {})
    await this.#connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: this.#uri, languageId: 'yaml', version: 1, text },
    })
    await this.edit(`${text}x: 1\n`)
    await this.edit(text)
  }

  /** Replaces the text by one with other problems, and waits until they are shown. */
  async edit(text: string): Promise<void> {
    const shown = new Promise<void>((resolve) => (this.#onShown = resolve))
    await this.#connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: this.#uri, version: ++this.#version },
      contentChanges: [{ text }],
    })
    await shown
  }

  /** Asks about a comment, which needs no work: the answer waits for other work only. */
  async hover(): Promise<void> {
    const textDocument = { uri: this.#uri }
    const position = { line: 0, character: 2 }
    await this.#connection.sendRequest(HoverRequest.type, { textDocument, position })
  }

  /** Measures the resident memory now, MB. */
  measureMemory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1.024e-3
  }

  async stop(): Promise<void> {
    await this.#connection.sendRequest(ShutdownRequest.type)
    await this.#connection.sendNotification(ExitNotification.type)
    this.#connection.dispose()
  }
}
