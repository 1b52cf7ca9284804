import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EdgewiseError, type ErrorCode } from '../model/edgewise-error.ts'
import { isObject, parseJson } from '../model/json.ts'
import type { Outside } from '../operations/outside.ts'
import type { OwnPage } from '../server/pages/create-page-source.ts'

/** Bytes of the answer of the process that are kept: an error is short, a plan is not needed. */
const maxBytes = 1024 * 1024
/** Errors of a plan that keep their code; others are unavailable. */
const codes: ErrorCode[] = ['invalid', 'usage', 'access', 'owned-elsewhere', 'record-damaged']

/** Commands that make a page, which take no lock. */
const commands: Record<OwnPage, string[]> = { plan: ['plan'], history: ['state', 'history'] }

/**
 * Makes a page with a process of its own: planning a large fleet blocks its thread for seconds to
 * minutes, and the leader has to give signs of life. It takes no lock.
 *
 * @param root folder of the workspace
 * @returns HTML as the command writes it with `--html`
 * @throws EdgewiseError as the command does, and `unavailable` if the process can't run
 */
export async function makeOwnPage(
  page: OwnPage,
  root: string,
  { env, signal }: Pick<Outside, 'env' | 'signal'>,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-page-'))
  try {
    const file = join(folder, 'page.html')
    const args = [...process.execArgv, process.argv[1] ?? '', '-C', root]
    const command = [...commands[page], '--html', file]
    const { code, out } = await run([...args, '--json', ...command], env, signal)
    if (code !== 0) throw parseError(page, out)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(
  args: string[],
  env: Outside['env'],
  signal: AbortSignal,
): Promise<{ code: number | null; out: string }> {
  // Neither secrets of the server nor traces of its own belong to this process.
  const own = Object.entries(env).filter(
    ([name]) => !/^(OTEL_|EDGEWISE_(SERVE|WEBHOOK)_)/.test(name),
  )
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      env: Object.fromEntries(own),
      stdio: ['ignore', 'pipe', 'ignore'],
      signal,
    })
    const chunks: Buffer[] = []
    let size = 0
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
    })
    child.on('error', (error) =>
      reject(new EdgewiseError('unavailable', `the page can't be made: ${error.message}`)),
    )
    child.on('close', (code) => resolve({ code, out: Buffer.concat(chunks).toString() }))
  })
}

/** Parses the error that a command has printed as JSON. */
function parseError(page: OwnPage, out: string): EdgewiseError {
  const parsed = parseJson(out.trim().split('\n').at(-1) ?? '')
  const error = isObject(parsed) ? parsed : {}
  const text = (key: string): string => (typeof error[key] === 'string' ? error[key] : '')
  const code = codes.find((each) => each === error['code']) ?? 'unavailable'
  const [first] = Array.isArray(error['diagnostics']) ? error['diagnostics'] : []
  const place = isObject(first) ? `: ${String(first['file'])}:${String(first['line'])}` : ''
  const detail = isObject(first) ? `: ${String(first['summary'])}` : ''
  const message = text('message') || 'the process ended early'
  return new EdgewiseError(
    code,
    `the ${page} can't be made: ${message}${place}${detail}`,
    text('hint'),
  )
}
