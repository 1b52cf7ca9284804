import { Refusal } from './refusal.ts'

/**
 * The parameters of a query string; of one that is given twice the last counts. Throws a Refusal
 * where it is not URL-encoded UTF-8.
 */
export function parseQuery(query: string): ReadonlyMap<string, string> {
  return new Map(
    query
      .split('&')
      .filter((part) => part !== '')
      .map((part) => {
        const equals = part.indexOf('=')
        return equals === -1
          ? [decoded(part), '']
          : [decoded(part.slice(0, equals)), decoded(part.slice(equals + 1))]
      }),
  )
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch (error) {
    if (error instanceof URIError)
      throw new Refusal(
        'query-malformed',
        'expected URL-encoded UTF-8 in the query string, got other bytes',
      )
    throw error
  }
}

/**
 * A parameter that has to be one of some words; the first of them where it is left out. Throws a
 * Refusal for any other.
 */
export function parseChoice<T extends string>(
  query: ReadonlyMap<string, string>,
  name: string,
  words: readonly [T, ...T[]],
): T {
  const given = query.get(name)
  if (given === undefined) return words[0]
  const word = words.find((each) => each === given)
  if (word === undefined)
    throw new Refusal(
      'choice-invalid',
      `expected "${name}" to be one of ${words.join(', ')}, got "${given}"`,
    )
  return word
}
