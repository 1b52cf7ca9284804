import type { PackedPage } from '../model/packed-page.ts'
import type { Page } from '../model/page.ts'

/** Unpacks the data of a page, which `packPage` has packed. */
export function unpackPage({ parts, changes, writes, ...page }: PackedPage): Page {
  return {
    ...page,
    parts: parts.map(([item, action, note, isDestructive, lines]) => ({
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
    })),
    changes: changes.map(([domain, part, of, place, state]) => ({
      domain,
      part,
      writes: of,
      place,
      state,
    })),
    writes: writes.map(([id, wave, domains, items, seconds]) => ({
      id,
      wave,
      domains,
      items: items.map(([item, form]) => ({ item, form })),
      seconds,
    })),
  }
}
