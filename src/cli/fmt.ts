import { describeUnwritten } from '../files/explain-failure.ts'
import { formatJson } from '../core/model/json.ts'
import { basename, dirname, join } from 'node:path'
import { exists, isLink } from '../files/look.ts'
import { replaceBelow } from '../files/replace-file.ts'
import { formatYaml } from '../manifest/yaml/format-yaml.ts'
import { createFile } from '../manifest/manifests/list-files.ts'
import { loadWorkspaceFiles } from '../manifest/manifests/load-workspace.ts'
import { addSchemaLine, findSchema, schemaName } from '../manifest/yaml/schema-line.ts'
import type { SourceFile } from '../manifest/yaml/yaml-file.ts'
import { append } from '../core/model/lists.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Diagnostic } from '../core/model/problem.ts'
import { listSome, pluralize } from '../core/model/text/words.ts'
import { runBlocking } from '../operations/runtime/with-pool.ts'
import { formatDiagnosticsText } from '../outlets/report/diagnostics/text.ts'
import { escapeInvisible } from '../outlets/report/text/escape-invisible.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommandContext, Io, PhaseLine } from './io.ts'
import { loadFile } from './load-file.ts'
import { loadStdin } from './load-sources.ts'
import { selectFiles } from './select-files.ts'
import { findWorkspaceRoot } from './open.ts'
import { readPackageFile } from './package-files.ts'

export interface FmtOptions {
  check?: boolean
  /** Write the schema for editors. */
  schema?: boolean
}

/**
 * `edgewise fmt`: formats the files of the workspace in canonical order and style. Values and
 * comments stay. If there is a schema for editors, files without a line for it get one.
 */
export async function fmt(
  context: CommandContext,
  [paths = []]: unknown[],
  { check: checks = false, schema }: FmtOptions,
): Promise<number> {
  const { io, options, phases } = context
  const named = paths as string[]
  const isStdin = named.join() === '-' && schema !== true && options.json !== true
  const root = isStdin ? io.cwd : findWorkspaceRoot(context)
  const { files, unreadable } = isStdin
    ? await loadInput(io)
    : loadSelected(context, root, named, checks)
  const schemaPath = isStdin ? null : (findSchema(root) ?? (schema === true ? schemaName : null))
  const formatted: SourceFile[] = []
  if (schema === true && schemaPath !== null) append(formatted, findOldSchema(root, schemaPath))
  runBlocking(io, () => {
    for (const [done, file] of files.entries()) {
      phases.report({ name: 'formatting-files', done, total: files.length })
      const result = formatYaml(schemaPath === null ? file : addSchemaLine(file, schemaPath))
      if ('diagnostics' in result) append(unreadable, result.diagnostics)
      else if ('unchanged' in result)
        context.note(`skipped ${escapeInvisible(file.path)}: ${result.unchanged}`)
      else if (result.text !== file.text) formatted.push({ path: file.path, text: result.text })
    }
  })
  const changed = formatted.map(({ path }) => path)
  if (!checks && !isStdin) replaceFiles(root, formatted, io.machine.processName, phases)
  if (unreadable.length > 0)
    io.err(
      formatDiagnosticsText(unreadable, {
        findLine: () => null,
        paint: context.errPaint,
        columns: io.errColumns,
      }),
    )
  if (isStdin && !checks)
    io.out(unreadable.length > 0 ? '' : ([...formatted, ...files][0]?.text ?? ''))
  else if (options.json === true)
    io.out(formatJson({ format: 'edgewise.fmt/1', check: checks, changed }))
  else
    for (const path of changed)
      io.out(`${checks ? 'not formatted' : 'formatted'}  ${escapeInvisible(path)}\n`)
  context.note(`Checked ${pluralize(files.length, 'file')}.`)
  if (unreadable.some(({ severity }) => severity === 'error')) return exitCodes.failed
  return checks && changed.length > 0 ? exitCodes.differences : exitCodes.done
}

/** Files to format, and the problems of those that can't be loaded. */
interface Selected {
  files: SourceFile[]
  unreadable: Diagnostic[]
}

/**
 * Loads the files that paths select, or all; and the problems of those that can't be loaded.
 *
 * @throws EdgewiseError `usage` if there is nothing to check
 */
function loadSelected(
  context: CommandContext,
  root: string,
  paths: string[],
  checks: boolean,
): Selected {
  const { io, phases } = context
  phases.report({ name: 'listing-files' })
  const aids = {
    progress: (done: number, total: number) =>
      phases.report({ name: 'loading-files', done, total }),
    onListed: (total: number) => phases.report({ name: 'listing-files', total }),
  }
  const loaded = runBlocking(io, () => loadWorkspaceFiles(root, io.env, aids))
  const { files, diagnostics, config } = loaded
  if (files.length <= 1 && diagnostics.length === 0) {
    const globs = [...config.manifests, ...config.profiles].join(', ')
    const nothing = `nothing but edgewise.yaml to format: no file matches ${globs}`
    if (checks) throw new EdgewiseError('usage', nothing, 'Check the folder and the globs.')
    context.warn(escapeInvisible(nothing))
  }
  const listed = files.map(({ path }) => createFile(path))
  const { includes } = selectFiles(listed, diagnostics, paths, { root, cwd: io.cwd, config })
  return {
    files: files.filter(({ path: file }) => includes({ file })),
    unreadable: diagnostics.filter(includes),
  }
}

/** Loads stdin, whose formatted text goes to stdout. */
async function loadInput({ openStdin, signal }: Io): Promise<Selected> {
  const { name: path, ...loaded } = await loadStdin(openStdin, signal)
  if ('fault' in loaded) throw new EdgewiseError('usage', `${path}: ${loaded.fault}`)
  return { files: [{ path, text: loaded.text }], unreadable: [] }
}

/**
 * Returns the schema for editors unless the workspace has it as it is in this version.
 *
 * @throws EdgewiseError `usage` for an old one behind a link, which may lead to any file
 */
function findOldSchema(root: string, path: string): SourceFile[] {
  const text = readPackageFile(`schemas/${schemaName}`)
  const target = join(root, path)
  if (exists(target) && loadFile(target) === text) return []
  if (isLink(target))
    throw new EdgewiseError(
      'usage',
      `${target} is a symbolic link, and its target is not the schema of this version`,
      'Remove the link, or write the schema to its target.',
    )
  return [{ path, text }]
}

const maxListed = 20

/** @throws EdgewiseError `usage` when a file can't be written; it and later ones are unchanged */
function replaceFiles(
  root: string,
  files: SourceFile[],
  temporary: string,
  phases: PhaseLine,
): void {
  const paths = files.map(({ path }) => path)
  for (const [i, { path, text }] of files.entries()) {
    phases.report({ name: 'writing-files', done: i, total: files.length })
    // The schema may be in a folder above the workspace.
    const isAbove = path.startsWith('../')
    const failure = isAbove
      ? replaceBelow(join(root, dirname(path)), basename(path), text, temporary)
      : replaceBelow(root, path, text, temporary)
    if (failure === null) continue
    const before = i === 0 ? '' : ` Formatted: ${listSome(paths.slice(0, i), maxListed)}.`
    throw new EdgewiseError(
      'usage',
      `${describeUnwritten(join(root, path), failure)}.${before} ` +
        `Not formatted: ${listSome(paths.slice(i), maxListed)}`,
      'Fix the cause, then run "edgewise fmt" again.',
    )
  }
}
