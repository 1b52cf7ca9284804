import { describeUnwritten } from '../files/explain-failure.ts'
import { join } from 'node:path'
import { writeFiles } from '../files/write-files.ts'
import { type Entry, removeEntries } from '../manifest/yaml/remove-entries.ts'
import { parseYaml } from '../manifest/yaml/yaml-file.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Domain } from '../core/model/item.ts'
import { getOwn, isObject, type Json } from '../core/model/json.ts'
import { groupBy } from '../core/model/lists.ts'
import type { Diagnostic } from '../core/model/problem.ts'
import type { Desired, Findings, ItemPlaces, Settings, Outside } from './runtime/parts.ts'

/** A file with the text that it has now, and the one without some rules and entries. */
export interface FixedFile {
  path: string
  before: string
  after: string
}

type FixedWorkspace = Desired & Pick<ItemPlaces, 'findProfiles'> & Pick<Findings, 'findSource'>

/**
 * Plans the edits of manifests and profiles that remove repeated rules, and entries that another
 * one repeats or contains, where all domains of the manifest or profile have the finding. Writes
 * nothing.
 */
export function planFixes(
  workspace: FixedWorkspace,
  diagnostics: readonly Diagnostic[],
): FixedFile[] {
  const byFile = groupBy(diagnostics.filter(isFixable), ({ file }) => file)
  return [...byFile].flatMap(([path, found]) => {
    const before = workspace.findSource(path)
    if (before === null) return []
    const { documents } = parseYaml({ path, text: before })
    const values = new Map(documents.map(({ index, value }) => [index, value]))
    const entries = found.flatMap((each): Entry[] => {
      const { document, pointer = '', finding } = each
      const users = listDomains(workspace, values.get(document) ?? null)
      const isShared = users.some((domain) => finding?.domains.includes(domain) !== true)
      const text = each.code === 'rule-duplicate' ? null : (finding?.rule.pattern ?? null)
      return isShared || !pointer.startsWith('/config/') ? [] : [{ document, pointer, text }]
    })
    const after = removeEntries({ path, text: before }, entries)
    return after === null ? [] : [{ path, before, after }]
  })
}

/** Tests whether removing what a finding is about has no effect on any request. */
function isFixable({ code, finding }: Diagnostic): boolean {
  if (finding === undefined || Object.keys(finding.rests).length > 0) return false
  const isContained = finding.proof === 'text' || finding.proof === 'cidr'
  return code === 'rule-duplicate' || (code === 'entry-redundant' && isContained)
}

/** Lists the domains that have the configuration of a document: a manifest or a profile. */
function listDomains({ desired, findProfiles }: FixedWorkspace, value: Json): Domain[] {
  if (!isObject(value)) return []
  const profile = getOwn(value, 'profile')
  if (typeof profile === 'string')
    return [...desired.keys()].filter((domain) => findProfiles(domain).includes(profile))
  const names = getOwn(value, 'domains') ?? [getOwn(value, 'domain') ?? '']
  return Array.isArray(names) ? names.map((name) => String(name).toLowerCase()) : []
}

/**
 * Writes all files, or none.
 *
 * @throws EdgewiseError `usage` when a file was changed meanwhile, or can't be written
 */
export function writeFixes(
  { root }: Pick<Settings, 'root'>,
  files: readonly FixedFile[],
  { machine }: Outside,
): void {
  const failure = writeFiles(
    root,
    files.map(({ path, before, after }) => ({ path: join(root, path), text: after, before })),
    machine.processName,
  )
  if (failure === null) return
  const { path, code, left } = failure
  const rest =
    left.length === 0 ? 'nothing was written' : `written, and not restored: ${left.join()}`
  throw new EdgewiseError(
    'usage',
    `${describeUnwritten(path, code)}; ${rest}`,
    'Run the same command again.',
  )
}
