import { isSameJson } from '../model/canonical-json.ts'
import { formatDomainFile, parseDomainFile } from './format/domain-file.ts'
import { formatPruned, parsePruned } from './format/pruned-file.ts'
import type { RecordedItem } from './store.ts'

/**
 * Joins a file at the path of an earlier program with the file of this program, if there is one:
 * two programs may have written state of one service at two paths. Items of a domain that differ
 * are in-doubt. Of other files, which only one apply writes, the old one counts.
 *
 * @param path path of this program
 * @throws EdgewiseError `record-damaged`
 */
export function joinOldFile(
  path: string,
  text: string | undefined,
  old: { place: string; text: string },
): string {
  if (text === undefined || text === old.text) return old.text
  if (path.split('/')[2] === 'domains') return joinDomains(path, text, old)
  return path.endsWith('/pruned/applies.json') ? joinPruned(path, text, old) : old.text
}

function joinDomains(path: string, text: string, old: { place: string; text: string }): string {
  const { domain, items } = parseDomainFile(path, text)
  for (const [item, state] of parseDomainFile(old.place, old.text).items)
    items.set(item, joinItems(items.get(item), state))
  return formatDomainFile(domain, items)
}

function joinItems(own: RecordedItem | undefined, old: RecordedItem): RecordedItem {
  if (own === undefined) return old
  const [earlier, later] = own.at < old.at ? [own, old] : [old, own]
  const isEqual = own.status === old.status && isSameJson([...own.candidates], [...old.candidates])
  if (isEqual) return later
  const all = [...earlier.candidates, ...later.candidates]
  return {
    ...later,
    status: 'in-doubt',
    candidates: all.filter((value, i) => all.findIndex((each) => isSameJson(each, value)) === i),
    unknown: true,
    open: true,
    ...((earlier.templates ?? later.templates) === undefined
      ? {}
      : { templates: { ...earlier.templates, ...later.templates } }),
  }
}

function joinPruned(path: string, text: string, oldFile: { place: string; text: string }): string {
  const [own, old] = [parsePruned(path, text), parsePruned(oldFile.place, oldFile.text)]
  const applies = new Map([...old.applies, ...own.applies].map((apply) => [apply.id, apply]))
  return formatPruned({
    applies: [...applies.values()].toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1)),
    dropped: own.dropped + old.dropped,
  })
}
