import type { Page, PageChange } from '../model/page.ts'

/** A page as it is in the file, with a list for each change: it is half as long as an object. */
export type PackedPage = Omit<Page, 'changes'> & {
  changes: [
    domain: number,
    part: number,
    writes: number[],
    place: string | null,
    state: string | null,
  ][]
}

/** Unpacks the data of a page. */
export function unpackPage({ changes, ...page }: PackedPage): Page {
  const unpacked = changes.map(([domain, part, writes, place, state]): PageChange => ({
    domain,
    part,
    writes,
    place,
    state,
  }))
  return { ...page, changes: unpacked }
}
