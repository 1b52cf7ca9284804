import { join } from 'node:path'
import { writeFiles } from '../files/write-files.ts'
import { type Entry, removeEntries } from '../manifest/yaml/remove-entries.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { groupBy } from '../core/model/lists.ts'
import type { Diagnostic } from '../core/model/problem.ts'
import type { Settings } from './runtime/workspace-parts.ts'
import type { Outside } from './runtime/outside.ts'

/** A file with the text that it has now, and the one without some rules and entries. */
export interface FixedFile {
  path: string
  before: string
  after: string
}

/**
 * Plans the edits of files that remove repeated rules, and entries that another one repeats or
 * contains. What a manifest has from a profile is removed there, if the finding is about the
 * profile. Writes nothing.
 *
 * @param findSource finds the text of a file as it was checked
 */
export function planFixes(
  diagnostics: readonly Diagnostic[],
  findSource: (path: string) => string | null,
): FixedFile[] {
  const byFile = groupBy(diagnostics.filter(isFixable), ({ file }) => file)
  return [...byFile].flatMap(([path, found]) => {
    const before = findSource(path)
    if (before === null) return []
    const after = removeEntries({ path, text: before }, found.flatMap(listEntries))
    return after === null ? [] : [{ path, before, after }]
  })
}

/** Tests whether what a finding is about can be removed without any effect on requests. */
function isFixable({ code, severity, proof }: Diagnostic): boolean {
  if (severity === 'error') return false
  return code === 'rule-duplicate' || (code === 'entry-redundant' && isPlainProof(proof))
}

function isPlainProof(proof: Diagnostic['proof']): boolean {
  return proof === 'text' || proof === 'cidr'
}

function listEntries({ document, pointer = '' }: Diagnostic): Entry[] {
  return /^\/config\/.*\/\d+$/.test(pointer) ? [{ document, pointer }] : []
}

/**
 * Writes all files, or none.
 *
 * @throws EdgewiseError `usage` when a file was changed meanwhile, or can't be written
 */
export function writeFixes(
  { root }: Pick<Settings, 'root'>,
  files: readonly FixedFile[],
  { machine }: Pick<Outside, 'machine'>,
): void {
  const failure = writeFiles(
    root,
    files.map(({ path, before, after }) => ({ path: join(root, path), text: after, before })),
    machine.processName,
  )
  if (failure === null) return
  const { path, code, left } = failure
  const reason = reasons[code] ?? `can't be written (${code})`
  const rest =
    left.length === 0 ? 'nothing was written' : `written, and not restored: ${left.join()}`
  throw new EdgewiseError('usage', `${path} ${reason}; ${rest}`, 'Run the same command again.')
}

const reasons: Record<string, string> = {
  CHANGED: 'was changed meanwhile',
  OUTSIDE: 'leads out of the workspace through a link',
}
