import { addUp } from './lists.ts'
import { weighDomainGlob } from './text/domain-glob.ts'
import { EdgewiseError } from './edgewise-error.ts'

/**
 * Limits on foreign input: files of a workspace, imports, answers. Work on anything within them is
 * linear, so that 5 MB take seconds. Beyond one, a sentence says which.
 */
export const inputLimits = {
  /** Size of a text, key or value, bytes of UTF-8. */
  textBytes: 64 * 1024,
  /** Length of all texts of a domain after their references are replaced, UTF-16 units. */
  replacedLength: 1024 * 1024,
  /** The same of all domains together, with 64 units for each value of an item with references. */
  replacedInAll: 64 * 1024 * 1024,
  /** Nesting of lists and mappings. */
  levels: 64,
  /** Marks of YAML in a file that is not plain: each scalar, indicator, blank and line end. */
  marks: 500_000,
  /** Globs of one list, times the domains that they are matched with; credentials, times texts. */
  matches: 1_000_000,
  /** Problems of a file, and of an item, that are worked out; 200 of a file are listed. */
  problems: 400,
  /** Unknown items of profiles that are looked for in manifests, over all manifests. */
  unknownItems: 20_000,
  /** Profiles that the different lists of manifests include, and as many those of profiles. */
  layers: 250_000,
} as const

/** Message about more nesting than allowed, of both parsers and the scan of JSON. */
export const tooDeep = `expected at most ${inputLimits.levels} levels of nesting, got more`

/** What to do about too many pairs of a glob and a domain. */
export const useFewerGlobs =
  'Use fewer globs with more "*", or split the workspace. Each "{a,b}" counts as two.'

/** Explains that a text is too long; null if it is not. */
export function findTextFault(text: string): string | null {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= inputLimits.textBytes) return null
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= inputLimits.textBytes) return null
  return (
    `expected a text of at most ${inputLimits.textBytes / 1024} KiB, got ` +
    `${Math.ceil(bytes / 1024)} KiB. Shorten it.`
  )
}

/**
 * Refuses a list of globs with too many domains to match them with.
 *
 * @param list its name in messages, such as `guards.protect`
 * @throws EdgewiseError `usage`
 */
export function limitMatches(list: string, globs: readonly string[], domains: number): void {
  const fault = findExcess(globs, domains)
  if (fault !== null) throw new EdgewiseError('usage', `${list}: ${fault}`, useFewerGlobs)
}

/** Explains that globs have too many domains to match them with; null if they have not. */
export function findExcess(globs: readonly string[], domains: number): string | null {
  const pairs = addUp(globs, weighDomainGlob) * domains
  return pairs <= inputLimits.matches
    ? null
    : `expected at most ${inputLimits.matches} pairs of a glob and a domain, got ${pairs} ` +
        `(${globs.length} globs, ${domains} domains)`
}

/** A decoded text, or in a clause the reason why the bytes are not text. */
export type DecodedText = { text: string } | { fault: string }

/** Decodes UTF-8 without a byte order mark. The fault names UTF-16 if it is recognized. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf)
    return { fault: 'expected UTF-8 without a byte order mark, got one at the beginning' }
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (isMarked || bytes.includes(0)) return { fault: 'expected UTF-8, got NUL bytes or UTF-16' }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (error instanceof TypeError) return { fault: 'expected UTF-8, got other bytes' }
    throw error
  }
}
