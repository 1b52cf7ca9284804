import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import type { Json, JsonObject } from '../../src/core/model/json.ts'

/** A diagnostic of the server: line from 1, and the message. */
export interface EditorDiagnostic {
  line: number
  message: string
}

interface Diagnostic {
  range: { start: { line: number } }
  message: string
}

/** Client of a language server on standard streams. */
export class LanguageServer {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #settings: JsonObject
  readonly #answers = new Map<number, (result: Json) => void>()
  readonly #listeners = new Map<string, (diagnostics: EditorDiagnostic[]) => void>()
  #buffer = Buffer.alloc(0)
  #id = 0

  /**
   * @param program the server's script
   * @param settings the editor's settings under `yaml`
   */
  constructor(program: string, settings: JsonObject) {
    this.#settings = settings
    this.#child = spawn(process.execPath, [program, '--stdio'])
    this.#child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
  }

  async start(root: string): Promise<void> {
    const configuration = {
      configuration: true,
      didChangeConfiguration: { dynamicRegistration: true },
    }
    await this.#request('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(root).href,
      capabilities: {
        workspace: configuration,
        textDocument: { completion: { completionItem: { snippetSupport: true } } },
      },
    })
    this.#notify('initialized', {})
    this.#notify('workspace/didChangeConfiguration', { settings: { yaml: this.#settings } })
  }

  /** Opens a text under a path and waits for its diagnostics. */
  async open(path: string, text: string): Promise<EditorDiagnostic[]> {
    const uri = pathToFileURL(path).href
    const diagnostics = new Promise<EditorDiagnostic[]>((resolve) =>
      this.#listeners.set(uri, resolve),
    )
    this.#notify('textDocument/didOpen', {
      textDocument: { uri, languageId: 'yaml', version: 1, text },
    })
    return diagnostics
  }

  /** Lists the completions at a place; line and character from 0. */
  async listCompletions(path: string, line: number, character: number): Promise<string[]> {
    const result = await this.#request('textDocument/completion', locate(path, line, character))
    return ((result as JsonObject)['items'] as { label: string }[]).map(({ label }) => label)
  }

  /** Returns the hover text of a place; line and character from 0. */
  async hover(path: string, line: number, character: number): Promise<string> {
    return JSON.stringify(await this.#request('textDocument/hover', locate(path, line, character)))
  }

  stop(): void {
    this.#child.kill()
  }

  #request(method: string, params: Json): Promise<Json> {
    const id = ++this.#id
    const answer = new Promise<Json>((resolve) => this.#answers.set(id, resolve))
    this.#send({ id, method, params })
    return answer
  }

  #notify(method: string, params: Json): void {
    this.#send({ method, params })
  }

  #send(message: JsonObject): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
    this.#child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`)
    this.#child.stdin.write(body)
  }

  #receive(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk])
    for (;;) {
      const head = /^(?:[^\r\n]+\r\n)*?Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n/i.exec(
        this.#buffer.toString('latin1'),
      )
      if (head === null) return
      const end = head[0].length + Number(head[1])
      if (this.#buffer.length < end) return
      const message = JSON.parse(
        this.#buffer.subarray(head[0].length, end).toString('utf8'),
      ) as JsonObject
      this.#buffer = this.#buffer.subarray(end)
      this.#handle(message)
    }
  }

  #handle({ id, method, params, result }: JsonObject): void {
    if (method === undefined && typeof id === 'number') {
      this.#answers.get(id)?.(result ?? null)
    } else if (method === 'textDocument/publishDiagnostics') {
      const { uri, diagnostics } = params as unknown as { uri: string; diagnostics: Diagnostic[] }
      this.#listeners.get(uri)?.(
        diagnostics.map(({ range, message }) => ({ line: range.start.line + 1, message })),
      )
    } else if (id !== undefined) {
      const requested =
        method === 'workspace/configuration'
          ? ((params as JsonObject)['items'] as { section: string }[])
          : null
      this.#send({
        id,
        result:
          requested === null
            ? null
            : requested.map(({ section }) => (section === 'yaml' ? this.#settings : {})),
      })
    }
  }
}

function locate(path: string, line: number, character: number): Json {
  return { textDocument: { uri: pathToFileURL(path).href }, position: { line, character } }
}
