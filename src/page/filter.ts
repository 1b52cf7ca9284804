import { getChange, type FullChange, type PageIndex } from './index-page.ts'

/** The filters and the selected cell, which are in the hash of the address. */
export interface View {
  /** Part of the name of a domain. */
  domain: string
  item: string
  action: string
  /** Numbers of a write and of a wave in the plan; null for all. */
  write: number | null
  wave: number | null
  /** Of a history: id of an apply, its outcome and author; empty for all. */
  apply: string
  outcome: string
  author: string
  cell: { domain: string; item: string } | null
}

/** A view that shows all changes. */
export const emptyView: View = {
  domain: '',
  item: '',
  action: '',
  write: null,
  wave: null,
  apply: '',
  outcome: '',
  author: '',
  cell: null,
}

/** Parses the hash of an address; what it does not know is ignored. */
export function parseHash(hash: string): View {
  const values = new URLSearchParams(hash.replace(/^#/, ''))
  const cell = values.get('cell') ?? ''
  const slash = cell.lastIndexOf('/')
  return {
    domain: values.get('domain') ?? '',
    item: values.get('item') ?? '',
    action: values.get('action') ?? '',
    write: parseNumber(values.get('write')),
    wave: parseNumber(values.get('wave')),
    apply: values.get('apply') ?? '',
    outcome: values.get('outcome') ?? '',
    author: values.get('author') ?? '',
    cell: slash < 1 ? null : { domain: cell.slice(0, slash), item: cell.slice(slash + 1) },
  }
}

/** Formats a view as the hash of an address; `#` for an empty one. */
export function formatHash(view: View): string {
  const { domain, item, action, write, wave, apply, outcome, author, cell } = view
  const values = new URLSearchParams()
  const add = (name: string, value: string) => {
    if (value !== '') values.set(name, value)
  }
  add('domain', domain)
  add('item', item)
  add('action', action)
  add('write', write === null ? '' : String(write))
  add('wave', wave === null ? '' : String(wave))
  add('apply', apply)
  add('outcome', outcome)
  add('author', author)
  add('cell', cell === null ? '' : `${cell.domain}/${cell.item}`)
  return `#${values.toString().replaceAll('%2F', '/')}`
}

/** Reports whether a view has a filter; the selected cell is none. */
export function isFiltered(view: View): boolean {
  return formatHash({ ...view, cell: null }) !== '#'
}

/** Lists the positions of the changes that pass all filters of a view, in the order of the page. */
export function matchChanges(index: PageIndex, view: View): number[] {
  const found: number[] = []
  for (let position = 0; position < index.page.changes.length; position++) {
    const change = getChange(index, position)
    if (change !== null && isMatch(index, view, change)) found.push(position)
  }
  return found
}

function isMatch({ page, names }: PageIndex, view: View, change: FullChange): boolean {
  const { what, writes } = change
  return (
    (view.item === '' || page.items[what.item] === view.item) &&
    (view.action === '' || what.action === view.action) &&
    (view.write === null || writes.some((write) => page.writes[write]?.id === view.write)) &&
    (view.wave === null || writes.some((write) => page.writes[write]?.wave === view.wave)) &&
    (view.domain === '' || (names[change.domain] ?? '').includes(view.domain.trim().toLowerCase()))
  )
}

function parseNumber(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null
}
