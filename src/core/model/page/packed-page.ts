import type { Page, PageChange } from './page.ts'

/** A page as it is in its file, with lists instead of the many objects: they are half as long. */
export type PackedPage = Omit<Page, 'parts' | 'changes' | 'writes'> & {
  parts: [
    item: number,
    action: Page['parts'][number]['action'],
    note: string,
    isDestructive: boolean,
    lines: [
      action: Page['parts'][number]['action'] | null,
      indent: number,
      text: string,
      isRemark?: true,
    ][],
    kinds?: string[] | null,
  ][]
  /** Neighbours with the same part, writes and state; places null if none has one. */
  changes: [
    part: number,
    writes: number[],
    state: string | null,
    domains: number[],
    places: (string | null)[] | null,
  ][]
  writes: [
    id: number,
    wave: number,
    domains: number[],
    items: [item: number, form: Page['writes'][number]['items'][number]['form']][],
    seconds: number,
  ][]
}

/** Packs a page for its file. The health of waves is left out: only the HTML has it. */
export function packPage({ parts, changes, writes, waves, ...page }: Page): PackedPage {
  return {
    ...page,
    waves: waves.map((wave) => ({ ...wave, health: null })),
    parts: parts.map(({ item, action, note, isDestructive, lines, kinds }) => [
      item,
      action,
      note,
      isDestructive,
      lines.map((line) =>
        line.isRemark
          ? [line.action, line.indent, line.text, true]
          : [line.action, line.indent, line.text],
      ),
      kinds ?? null,
    ]),
    changes: packChanges(changes),
    writes: writes.map(({ id, wave, domains, items, seconds }) => [
      id,
      wave,
      domains,
      items.map(({ item, form }) => [item, form]),
      seconds,
    ]),
  }
}

function packChanges(changes: PageChange[]): PackedPage['changes'] {
  const packed: PackedPage['changes'] = []
  for (const { part, writes, state, domain, place } of changes) {
    const last = packed.at(-1)
    const isSame =
      last !== undefined &&
      last[0] === part &&
      last[2] === state &&
      (last[4] === null) === (place === null) &&
      last[1].join() === writes.join()
    if (isSame) last[3].push(domain)
    else packed.push([part, writes, state, [domain], place === null ? null : [place]])
    if (isSame && place !== null) last[4]?.push(place)
  }
  return packed
}

/** Unpacks the data of a page, which `packPage` has packed. */
export function unpackPage({ parts, changes, writes, ...page }: PackedPage): Page {
  return {
    ...page,
    parts: parts.map(([item, action, note, isDestructive, lines, kinds]) => ({
      item,
      action,
      note,
      isDestructive,
      lines: lines.map(([sign, indent, text, isRemark = false]) => ({
        action: sign,
        indent,
        text,
        isRemark,
      })),
      kinds: kinds ?? undefined,
    })),
    changes: changes.flatMap(([part, of, state, domains, places]) =>
      domains.map((domain, i) => ({
        domain,
        part,
        writes: of,
        place: places?.[i] ?? null,
        state,
      })),
    ),
    writes: writes.map(([id, wave, domains, items, seconds]) => ({
      id,
      wave,
      domains,
      items: items.map(([item, form]) => ({ item, form })),
      seconds,
    })),
  }
}
