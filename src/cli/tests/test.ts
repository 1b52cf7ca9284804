import { formatJson } from '../../core/model/json.ts'
import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import type { Tested } from '../../core/tests/results.ts'
import { watchBelow } from '../../files/watch-below.ts'
import { findFileKind } from '../../manifest/manifests/forgotten-files.ts'
import { createFile } from '../../manifest/manifests/list-files.ts'
import { listFileKinds } from '../../manifest/workspace-file/file-kinds.ts'
import { loadTests } from '../../manifest/tests/load-tests.ts'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import { test as runTests } from '../../operations/test.ts'
import { formatTestsGithub } from '../../outlets/report/tests/github.ts'
import { buildTestJson } from '../../outlets/report/tests/json.ts'
import { formatTests } from '../../outlets/report/tests/text.ts'
import { exitCodes } from '../exit-codes.ts'
import type { ReportOptions } from '../commands/options.ts'
import type { CommandContext } from '../io.ts'
import { openWorkspace, refuseInvalidManifests } from '../open.ts'
import { createReports } from '../reports.ts'
import { selectFiles } from '../select-files.ts'
import { printError } from '../terminal/print-error.ts'
import { findFolderInRepository } from '../validate.ts'

/** Changes that are tried without another limit. */
const maxMutants = 500

/** Options of `edgewise test`, as the command line has them. */
export interface TestOptions extends ReportOptions {
  run?: string
  watch?: boolean
  allowEmpty?: boolean
  mutate?: boolean
  limit?: number
  /** In percent. */
  minGuarded?: number
  record: string[]
}

/** `edgewise test`: runs tests, and reports what they guard against. Needs no token, no state. */
export async function test(
  context: CommandContext,
  [paths]: unknown[],
  options: TestOptions,
): Promise<number> {
  const named = paths as string[]
  refuseLonely(options)
  if (options.record.length > 0) {
    const { record } = await import('./record.ts')
    return record(context, [...options.record, ...named])
  }
  const workspace = openWorkspace(context, 'none')
  if (options.watch === true) return watchTests(context, workspace, named, options)
  return runOnce(context, workspace, named, options)
}

/** Refuses options that would have no effect beside the others. */
function refuseLonely(options: TestOptions): void {
  const { mutate = false, limit, minGuarded } = options
  const lonely = limit === undefined ? '--min-guarded' : '--limit'
  if (!mutate && (limit ?? minGuarded) !== undefined)
    throw new EdgewiseError('usage', `${lonely} needs --mutate`)
}

async function runOnce(
  context: CommandContext,
  workspace: LoadedWorkspace,
  paths: string[],
  options: TestOptions,
): Promise<number> {
  const { io, paint } = context
  const { json = false, quiet = false } = context.options
  refuseInvalidManifests(context, workspace)
  const { root, config } = workspace
  const loaded = loadTests(root, config)
  const files = loaded.paths.map(createFile)
  const called = { one: `file of tests (${config.tests.join(', ')})`, all: 'to run all tests' }
  const selection = selectFiles(files, [], paths, { root, cwd: io.cwd }, called)
  const selected = new Set(selection.files.map(({ path }) => path))
  const folder = io.env['GITHUB_ACTIONS'] === 'true' && !json ? findFolderInRepository(root) : null
  const reports = createReports('test', options, workspace, io)
  const { limit = maxMutants } = options
  const request = { run: options.run, mutate: options.mutate === true ? { limit } : null }
  const tested = await runTests(workspace, request, io, loaded, (path) => selected.has(path))
  const layout = { paint, columns: io.columns, quiet }
  io.out(json ? formatJson(buildTestJson(tested)) : formatTests(tested, layout))
  if (folder !== null) io.out(formatTestsGithub(tested, folder), 'commands')
  for (const report of reports) await report.save(tested)
  return judge(context, tested, options)
}

/** Finds the exit code, and says why it is no success where the results do not. */
function judge({ note }: CommandContext, tested: Tested, options: TestOptions): number {
  const { results, mutations } = tested
  const { allowEmpty = false, mutate = false, minGuarded = 0 } = options
  if (results.length === 0 && !allowEmpty)
    note('Write a test, select others, or pass --allow-empty.')
  const hasFailed = results.some(({ outcome }) => outcome === 'failed')
  if (hasFailed && mutate) note('Nothing was changed: first, all tests must pass.')
  const isUnknown = minGuarded > 0 && mutations === null && !hasFailed
  if (isUnknown) note('What tests guard against is not known: none has run (--min-guarded).')
  const isWeak = isUnknown || (mutations !== null && mutations.share < minGuarded)
  if (isWeak && !isUnknown)
    note(`Tests guard against less than ${minGuarded} % of the changes (--min-guarded).`)
  const isFailed = hasFailed || isWeak || (results.length === 0 && !allowEmpty)
  return isFailed ? exitCodes.failed : exitCodes.done
}

/** Runs the tests whenever a file changes; an error of one run does not end it. */
async function watchTests(
  context: CommandContext,
  first: LoadedWorkspace,
  paths: string[],
  options: TestOptions,
): Promise<number> {
  const { io, note } = context
  const { root, config } = first
  const globs = Object.values(listFileKinds(config)).flat()
  const bases = globs.map((glob) => /^(?:[\w.-]+\/)*/.exec(glob)?.[0] ?? '')
  let queue = Promise.resolve()
  const run = (open: () => LoadedWorkspace) => {
    queue = queue.then(async () => {
      try {
        await runOnce(context, open(), paths, options)
      } catch (error) {
        throwDefect(error)
        printError(error, io, context.options.json === true, context.errPaint)
      }
      note('Waiting for changes; stop with Ctrl-C.')
    })
  }
  const isWatched = (path: string) => findFileKind(path, config) !== undefined
  const close = watchBelow(root, [...new Set(['', ...bases])], isWatched, () =>
    run(() => openWorkspace(context, 'none')),
  )
  run(() => first)
  await io.waitForStop()
  close()
  await queue
  return exitCodes.done
}
