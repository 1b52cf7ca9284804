import { withheldMessage } from '../../model/secret.ts'

/** Maximum number of names to show of a message. */
const maxNames = 10

/**
 * Returns what may be shown of a message about a write with a secret: status, code, and the known
 * names in it, as `HTTP 400, code 7, visit_timestamp, key (message withheld: may quote a secret)`.
 *
 * @param names names of domains, items and fields
 */
export function withholdMessage(
  text: string,
  status: number,
  code: number | null,
  names: ReadonlySet<string>,
): string {
  // The name of a wildcard domain begins with a dot.
  const found = [...text.matchAll(/\.?(\w(?:[\w.-]*\w)?)/g)].flatMap(([whole, word = '']) =>
    names.has(whole)
      ? [whole]
      : names.has(word)
        ? [word]
        : word.split(/[.-]/).filter((part) => names.has(part)),
  )
  const shown = [...new Set(found)].slice(0, maxNames)
  const facts = [`HTTP ${status}`, ...(code === null ? [] : [`code ${code}`]), ...shown]
  return `${facts.join(', ')} ${withheldMessage}`
}
