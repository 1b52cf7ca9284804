import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What the tests say: which one failed, or which files ran without a failure. */
export type Verdict = { failed: string; file: string } | { passed: string[] }

/** Test files, or those that import a source at any distance, without some. */
export type Which = { files: string[] } | { related: string; but: string[] }

/** The tests of `npm test`, or the longer checks at a tenth. */
export type Mode = 'npm test' | 'longer'

/** Times after which a run of tests counts as endless, also on a busy machine, ms. */
const maxMs: Record<Mode, number> = { 'npm test': 15 * 60_000, longer: 45 * 60_000 }

/** A copy of the last commit with packages of its own, in which sources are mutated. */
export class Scratch {
  readonly folder = mkdtempSync(join(tmpdir(), 'edgewise-mutations-'))
  readonly root = pathToFileURL(`${this.folder}/`)
  readonly #report = join(this.folder, 'node_modules/.report.json')
  readonly #dist = join(this.folder, 'dist')
  readonly #unmutated = join(this.folder, 'node_modules/.dist')
  readonly #files = new Map<Mode, string[]>()
  #end: () => unknown = () => undefined

  constructor(from: string) {
    // The server of databases runs as another user where root runs the tests.
    chmodSync(this.folder, 0o755)
    const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: from })
    run('git', 'clone', '--quiet', '--shared', '.', this.folder)
    try {
      run('cp', '-al', 'node_modules', this.folder)
    } catch {
      // Another file system has no links to the files of this one.
      run('cp', '-a', 'node_modules', this.folder)
    }
    // What tools write there must not reach the files that are linked.
    for (const cache of ['.cache', '.vite', '.vite-temp', '.experimental-vitest-cache'])
      rmSync(join(this.folder, 'node_modules', cache), { recursive: true, force: true })
  }

  read(path: string): string {
    return readFileSync(new URL(path, this.root), 'utf8')
  }

  write(path: string, text: string): void {
    writeFileSync(new URL(path, this.root), text)
  }

  /** Ends what runs in the copy, and removes it. */
  remove(): void {
    this.#end()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Builds the program once in full. */
  async prepare(): Promise<void> {
    if ((await this.#run('npm test', 'npm', ['run', '--silent', 'build'])) !== 0)
      throw new Error('npm run build fails without a mutation')
    renameSync(this.#dist, this.#unmutated)
  }

  /** Builds the program, but its types: tests are tried, not the compiler. False if that fails. */
  async build(): Promise<boolean> {
    const status = await this.#run('npm test', 'npx', ['tsx', 'tools/build.ts', '--no-types'])
    const filter = (path: string) => statSync(path).isDirectory() || path.endsWith('.d.ts')
    cpSync(this.#unmutated, this.#dist, { recursive: true, filter })
    return status === 0
  }

  /** Runs test files, or others that a source file reaches, up to the first failure. */
  async test(mode: Mode, which: Which): Promise<Verdict> {
    const chosen =
      'related' in which
        ? ['related', which.related, '--run', ...which.but.map((file) => `--exclude=${file}`)]
        : ['run', ...which.files]
    const report = ['--reporter=json', `--outputFile=${this.#report}`]
    rmSync(this.#report, { force: true })
    const options = ['--bail=1', '--passWithNoTests', ...report]
    const status = await this.#run(mode, 'npx', ['vitest', ...chosen, ...options])
    if (status === null) return { failed: 'no end', file: '' }
    return parseReport(this.folder, status, this.#load())
  }

  /** Lists all test files of a mode. */
  async listFiles(mode: Mode): Promise<string[]> {
    const known = this.#files.get(mode)
    if (known !== undefined) return known
    const args = ['vitest', 'list', '--filesOnly', `--json=${this.#report}`]
    await this.#run(mode, 'npx', args)
    const listed = JSON.parse(readFileSync(this.#report, 'utf8')) as { file: string }[]
    const files = [...new Set(listed.map(({ file }) => file.replace(`${this.folder}/`, '')))]
    this.#files.set(mode, files)
    return files
  }

  #load(): Report {
    return JSON.parse(readFileSync(this.#report, 'utf8')) as Report
  }

  /** Runs a program in the copy; null if it did not end in time. */
  #run(mode: Mode, program: string, args: string[]): Promise<number | null> {
    const { EDGEWISE_TEST_RUNS: _, ...env } = process.env
    return new Promise((resolve) => {
      const child = spawn(program, args, {
        cwd: this.folder,
        env: mode === 'longer' ? { ...env, EDGEWISE_TEST_RUNS: '0.1' } : env,
        stdio: 'ignore',
        detached: true,
      })
      let ended = true
      // With all processes that it has started.
      this.#end = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL')
      const timer = setTimeout(() => {
        ended = false
        this.#end()
      }, maxMs[mode])
      child.once('close', (status) => {
        clearTimeout(timer)
        this.#end = () => undefined
        resolve(ended ? (status ?? 1) : null)
      })
    })
  }
}

/** Report of the test runner, as far as it is used. */
interface Report {
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { status: string; fullName: string }[]
  }[]
}

/** Parses the report of the test runner. */
export function parseReport(folder: string, status: number, { testResults }: Report): Verdict {
  const shorten = (name: string) => name.replace(`${folder}/`, '')
  for (const { name, status: each, message, assertionResults } of testResults) {
    const failed = assertionResults.find((test) => test.status === 'failed')
    if (failed !== undefined) return { failed: failed.fullName, file: shorten(name) }
    if (each === 'failed') return { failed: message.split('\n')[0] ?? '', file: shorten(name) }
  }
  if (status !== 0) return { failed: `exit code ${status}`, file: '' }
  return { passed: testResults.map(({ name }) => shorten(name)) }
}
