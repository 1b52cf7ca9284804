import { findNearest } from '../catalog/value/nearest.ts'

/**
 * Drops the names from commander's message that differ from the unknown name by more than a slip of
 * letters: commander also suggests "init" for "exit".
 */
export function dropFarSuggestions(message: string): string {
  return message.replace(
    /^(error: unknown \w+ '([^']*)')\n\(Did you mean (?:one of )?(.+)\?\)/,
    (_whole, error: string, word: string, names: string) => {
      const near = names
        .split(', ')
        .filter((name) => findNearest(withoutDashes(word), [withoutDashes(name)]) !== null)
      if (near.length === 0) return error
      return `${error}\n(Did you mean ${near.length > 1 ? 'one of ' : ''}${near.join(', ')}?)`
    },
  )
}

function withoutDashes(word: string): string {
  return word.replace(/^-+/, '')
}
