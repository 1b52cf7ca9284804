/**
 * Splits a command line into words at blanks and line ends; quotes keep them. No other character is
 * special.
 */
export function splitWords(text: string): string[] {
  return Array.from(text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"]|['"])+/g), ([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )
}
