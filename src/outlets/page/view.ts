/** Names of the choices in the hash of the address. */
const names = [
  'domain',
  'item',
  'action',
  'kind',
  'write',
  'wave',
  'apply',
  'outcome',
  'author',
  'cell',
] as const

/**
 * The filters and the selected cell, which are in the hash of the address; empty for all. `domain`:
 * part of a name; `kind`: of drift; `write`, `wave`: numbers in the plan; `apply`, `outcome`,
 * `author`: of a history; `cell`: `DOMAIN/ITEM`.
 */
export type View = Record<(typeof names)[number], string>

/** A view that shows all changes. */
export const emptyView: View = parseHash('')

/** Parses the hash of an address; what it does not know is ignored. */
export function parseHash(hash: string): View {
  const values = new URLSearchParams(hash.replace(/^#/, ''))
  const read = (name: string, pattern = /^/) => {
    const text = values.get(name) ?? ''
    return pattern.test(text) ? text : ''
  }
  return {
    domain: read('domain'),
    item: read('item'),
    action: read('action'),
    kind: read('kind'),
    write: read('write', /^\d{1,9}$/),
    wave: read('wave', /^\d{1,9}$/),
    apply: read('apply'),
    outcome: read('outcome'),
    author: read('author'),
    cell: read('cell', /^.+\/[^/]*$/),
  }
}

/** Formats a view as the hash of an address; `#` for an empty one. */
export function formatHash(view: View): string {
  const values = new URLSearchParams()
  for (const name of names) if (view[name] !== '') values.set(name, view[name])
  return `#${values.toString().replaceAll('%2F', '/')}`
}

/** Reports whether a view has a filter; the selected cell and apply are none. */
export function isFiltered(view: View): boolean {
  return formatHash({ ...view, cell: '', apply: '' }) !== '#'
}
