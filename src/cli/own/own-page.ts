import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EdgewiseError, type ErrorCode } from '../../core/model/edgewise-error.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import type { CommitChecks } from '../../server/branch/commit-checks.ts'
import type { OwnDomains, OwnPage, OwnTrace } from '../../server/pages/create-page-source.ts'
import { createSerialQueue } from '../../state/store/serial-queue.ts'
import { addUp } from '../../core/model/lists.ts'
import type { OwnEnd, OwnUse, RunOwn } from './own-process.ts'

/** Largest page that is shown, bytes: a plan of 10,000 new domains has 20 MB. */
const maxPageBytes = 128 * 1024 * 1024
/** Errors of a plan that keep their code; others are unavailable. */
const codes: ErrorCode[] = ['invalid', 'usage', 'access', 'owned-elsewhere', 'record-damaged']

/** Commands that make a page, which take no lock, and the name of the file. */
const commands: Record<OwnPage | 'domains', string[]> = {
  plan: ['plan', '--served', '--report', 'page.html'],
  json: ['plan', '--report', 'plan.json'],
  history: ['state', 'history', '--served', '--report', 'page.html'],
  domains: ['report', '--pages', 'pages.json'],
}

/**
 * Creates the maker of pages, each in a separate process, one at a time: planning a large fleet
 * blocks its thread for seconds to minutes, and the leader has to give signs of life. It takes no
 * lock.
 */
export function createOwnPages(run: RunOwn, checks: Pick<CommitChecks, 'findFault'>) {
  const oneByOne = createSerialQueue()
  /**
   * @param root folder of the workspace
   * @returns what the command writes into its file
   * @throws EdgewiseError as the command does, and `unavailable` if the process can't run
   */
  return (
    asked: OwnPage | OwnTrace | OwnDomains,
    root: string,
    outside: Pick<Outside, 'env' | 'signal'>,
  ): Promise<string> =>
    oneByOne(async () => {
      const fault = checks.findFault(root)
      if (fault !== null) throw fault
      if (outside.signal.aborted) throw new EdgewiseError('unavailable', 'nobody waits any more')
      if (typeof asked !== 'string' && 'url' in asked) return trace(run, asked, root, outside)
      const page = typeof asked === 'string' ? asked : 'domains'
      return withFolder(async (folder) => {
        const words = commands[page]
        const file = join(folder, words.at(-1) ?? '')
        const more = typeof asked === 'string' ? [] : writeCheck(folder, asked)
        const all = ['-C', root, '--json', ...words.slice(0, -1), file, ...more]
        const end = await run(all, outside)
        // A history that is not as it was recorded says so itself.
        const isWrong = page === 'history' && end.code === 1 && end.error === null
        if (end.code !== 0 && !isWrong) throw explainEnd(page, end)
        if (statSync(file).size > maxPageBytes)
          throw explainEnd(page, { ...end, excess: `more than ${maxPageBytes} bytes` })
        return readFile(file, 'utf8')
      })
    })
}

/** Writes what a drift check has found for the command; returns its words. */
function writeCheck(folder: string, { check }: OwnDomains): string[] {
  if (check === null) return []
  const file = join(folder, 'check.json')
  writeFileSync(file, check)
  return ['--check', file]
}

/** Traces a GET request for the page of a domain. */
async function trace(
  run: RunOwn,
  { url, ip, of }: OwnTrace,
  root: string,
  outside: Pick<Outside, 'env' | 'signal'>,
): Promise<string> {
  const given = ip === '' ? [] : [`--ip=${ip}`]
  const words = ['-C', root, '--json', 'trace', '--served', ...given, '--of', of, '--', url]
  const end = await run(words, outside)
  if (end.code !== 0) throw explainEnd('trace', end)
  return end.out
}

function explainEnd(page: OwnPage | 'domains' | 'trace', { error, excess }: OwnEnd): EdgewiseError {
  const name = page === 'json' ? 'plan' : page === 'domains' ? 'list of domains' : page
  if (excess !== null)
    return new EdgewiseError('unavailable', `the ${name} can't be made: it takes ${excess}`)
  const code = codes.find((each) => each === error?.code) ?? 'unavailable'
  const { message = 'the process ended early', hint, diagnostics: [first] = [] } = error ?? {}
  const at = first === undefined ? '' : `: ${first.file}:${first.line}: ${first.summary}`
  return new EdgewiseError(code, `the ${name} can't be made: ${message}${at}`, hint)
}

/** Ticks of a second in the figures of Linux about a process. */
const ticks = 100

/** Measures what a process takes; null where the system has no such figures. */
export function measureUse(pid: number): OwnUse | null {
  try {
    const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8')
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read('status'))?.[1]
    // Behind its name, in brackets: four times of its own and its children, fields 14 to 17.
    const fields = read('stat').split(') ').at(-1)?.split(' ') ?? []
    const seconds = addUp(fields.slice(11, 15), Number) / ticks
    return kilobytes === undefined ? null : { megabytes: Number(kilobytes) / 1024, seconds }
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/** Does some work with a folder of its own, which is removed then. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-own-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
