import { listSome } from '../../model/words.ts'
import { measureWidth } from '../text/display-width.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** Domains and items of a write, or of a part of one. */
export interface Part {
  domains: readonly string[]
  items: readonly string[]
}

const maxNames = 3

/**
 * Formats a part: `https on 4 domains (css.example.com, img.example.com, …)`. The names that don't
 * fit are omitted, then the items.
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
  const texts = what.flatMap((each) =>
    names
      .map((_, i) => `${each} on ${where(names.slice(0, names.length - i))}`)
      .concat(domains.length === 1 ? [] : [`${each} on ${where([])}`]),
  )
  return texts.find((text) => measureWidth(text) <= room) ?? texts.at(-1) ?? ''
}
