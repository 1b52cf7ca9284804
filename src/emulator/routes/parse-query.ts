import type { JsonObject } from '../../core/model/json.ts'
import { Refusal, type RefusalKind } from './refusal.ts'

/**
 * Parses the parameters of a query string; the last value of a repeated one counts. Throws a
 * Refusal if it is not URL-encoded UTF-8.
 */
export function parseQuery(query: string): ReadonlyMap<string, string> {
  return new Map(
    query
      .split('&')
      .filter((part) => part !== '')
      .map((part) => {
        const equals = part.indexOf('=')
        return equals === -1
          ? [decode(part), '']
          : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))]
      }),
  )
}

function decode(part: string): string {
  return decodePercents(part, 'query-malformed', 'URL-encoded UTF-8 in the query string')
}

/** Decodes a part of a form or a query. Throws a Refusal with what was expected. */
export function decodePercents(part: string, kind: RefusalKind, expected: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch (error) {
    if (error instanceof URIError) throw new Refusal(kind, `expected ${expected}, got other bytes`)
    throw error
  }
}

/**
 * Parses a parameter with fixed values; the first is the default. Throws a Refusal for any other
 * value.
 */
export function parseChoice<T extends string>(
  query: ReadonlyMap<string, string>,
  name: string,
  words: readonly [T, ...T[]],
): T {
  const given = query.get(name)
  return given === undefined ? words[0] : parseWord({ [name]: given }, name, words)
}

/** Parses a field with fixed values. Throws a Refusal for any other value. */
export function parseWord<T extends string>(
  given: JsonObject,
  name: string,
  words: readonly T[],
): T {
  const word = words.find((each) => each === given[name])
  if (word !== undefined) return word
  const found = JSON.stringify(given[name] ?? null)
  throw new Refusal(
    'choice-invalid',
    `expected "${name}" to be one of ${words.join(', ')}, got ${found}`,
  )
}
