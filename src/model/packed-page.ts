import type { Action, FormName } from './change.ts'
import type { Page } from './page.ts'

/** A page as it is in its file, with lists instead of the many objects: they are half as long. */
export type PackedPage = Omit<Page, 'parts' | 'changes' | 'writes'> & {
  parts: [
    item: number,
    action: Action,
    note: string,
    isDestructive: boolean,
    lines: [action: Action | null, indent: number, text: string, isRemark?: true][],
  ][]
  changes: [
    domain: number,
    part: number,
    writes: number[],
    place: string | null,
    state: string | null,
  ][]
  writes: [
    id: number,
    wave: number,
    domains: number[],
    items: [item: number, form: FormName][],
    seconds: number,
  ][]
}
