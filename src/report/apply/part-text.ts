import { listSome } from '../../model/words.ts'
import { measureWidth } from '../text/display-width.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { truncate } from '../text/wrap.ts'

/** Domains and items of a write, or of a part of one. */
export interface Part {
  domains: readonly string[]
  items: readonly string[]
}

const maxNames = 2
/** Columns of a truncated name that still help. */
const minNameRoom = 10

/**
 * Formats a part: `https on 4 domains (css.example.com, img.example.com, …)`. The names that don't
 * fit are omitted, the last one is truncated, then the items are counted.
 *
 * @param room columns of a terminal line that are left; Infinity in a log
 */
export function formatPart({ domains, items }: Part, room: number): string {
  const names = domains.slice(0, maxNames).map(escapeInvisible)
  const where = (listed: string[]) => {
    if (domains.length === 1) return names.join()
    const rest = listed.length < domains.length ? ['…'] : []
    const some = listed.length === 0 ? '' : ` (${[...listed, ...rest].join(', ')})`
    return `${domains.length} domains${some}`
  }
  const what = [
    listSome(items.map(escapeInvisible)),
    ...(items.length === 1 ? [] : [`${items.length} items`]),
  ]
  const texts = what.flatMap((each) => {
    const lists = names.map((_, i) => `${each} on ${where(names.slice(0, names.length - i))}`)
    if (domains.length === 1) return lists
    const none = `${each} on ${where([])}`
    const nameRoom = room - measureWidth(`${none} (, …)`)
    const start = truncate(names[0] ?? '', nameRoom)
    return [...lists, ...(nameRoom < minNameRoom ? [] : [`${each} on ${where([start])}`]), none]
  })
  return texts.find((text) => measureWidth(text) <= room) ?? texts.at(-1) ?? ''
}
