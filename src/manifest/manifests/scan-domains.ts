import { isAcceleratedDomain } from '../../core/catalog/value/formats.ts'

/**
 * Finds the domains of manifests in a text by their keys, without parsing it: completion has to be
 * fast, and does without what it misses. Returns only domain names, in lower case, which have no
 * character that a shell interprets.
 */
export function scanDomains(text: string): string[] {
  // A key of a manifest, at the start of a line or of a mapping in braces, with the lines below.
  const keys = /^(?:\{\s*)?["']?(domains?)["']?[ \t]*:(.*(?:\n[ \t\]-].*)*)/gm
  return [...text.matchAll(keys)].flatMap(([, key, value = '']) => {
    const list = /^\s*\[/.test(value) ? (value.split(']')[0] ?? '') : value
    const names = list
      .replaceAll(/(^|\s)#.*/g, '')
      .split(/[\s,"'{}[\]]+/)
      .filter((word) => word !== '' && word !== '-')
    // The other keys of a mapping in braces may follow a single domain.
    const wanted = key === 'domains' ? names : names.slice(0, 1)
    return wanted.filter(isAcceleratedDomain).map((name) => name.toLowerCase())
  })
}
