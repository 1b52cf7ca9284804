import { isAcceleratedDomain } from '../catalog/value/formats.ts'

/**
 * Finds the domains of manifests in a text by their keys, without parsing it: completion has to be
 * fast, and does without what it misses. Returns only domain names, in lower case, which have no
 * character that a shell interprets.
 */
export function scanDomains(text: string): string[] {
  /** The keys of a manifest, at the start of a line or of a mapping in braces. */
  const keys = /^(?:\{\s*)?["']?(domains?)["']?[ \t]*:/gm
  const domains: string[] = []
  for (let key = keys.exec(text); key !== null; key = keys.exec(text)) {
    const start = keys.lastIndex
    const isList = key[1] === 'domains'
    const end = isList ? findListEnd(text, start) : findLineEnd(text, start)
    const names = splitNames(text.slice(start, end))
    // The other keys of a mapping in braces may follow a single domain.
    for (const name of isList ? names : names.slice(0, 1))
      if (isAcceleratedDomain(name)) domains.push(name)
    // Nothing is searched twice.
    keys.lastIndex = Math.max(start, end)
  }
  return domains
}

function findLineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

/** Finds the end of a list in brackets, or of one with an entry per line: the next key. */
function findListEnd(text: string, start: number): number {
  const opening = /\s*\[/y
  const next = /^(?:["']?[A-Za-z_]|---)/gm
  opening.lastIndex = next.lastIndex = start
  const end = opening.test(text) ? text.indexOf(']', start) : (next.exec(text)?.index ?? -1)
  return end < 0 ? text.length : end
}

/** Splits a text at all that separates names, after its comments are removed. */
function splitNames(text: string): string[] {
  return text
    .replaceAll(/(^|\s)#.*/g, '')
    .split(/[\s,"'{}[\]]+/)
    .filter((word) => word !== '' && word !== '-')
    .map((name) => name.toLowerCase())
}
