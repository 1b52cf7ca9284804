import type { PackedPage } from '../../model/packed-page.ts'
import type { Page } from '../../model/page.ts'

/** Packs a page for its file; `unpackPage` of the view unpacks it. */
export function packPage({ parts, changes, writes, ...page }: Page): PackedPage {
  return {
    ...page,
    parts: parts.map(({ item, action, note, isDestructive, lines }) => [
      item,
      action,
      note,
      isDestructive,
      lines.map((line) =>
        line.isRemark
          ? [line.action, line.indent, line.text, true]
          : [line.action, line.indent, line.text],
      ),
    ]),
    changes: changes.map((change) => [
      change.domain,
      change.part,
      change.writes,
      change.place,
      change.state,
    ]),
    writes: writes.map(({ id, wave, domains, items, seconds }) => [
      id,
      wave,
      domains,
      items.map(({ item, form }) => [item, form]),
      seconds,
    ]),
  }
}
