/** Characters that a comparison of texts by culture ignores. */
const ignored = /[\p{Default_Ignorable_Code_Point}\0]/gu

/**
 * Finds lines that a CI runner would execute, as generously as any runner parses them: `::command`
 * after blanks, `##[command]` anywhere, sections of a log. Lines end at LF and CR.
 */
export function findCommands(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/).filter((line) => {
    const seen = line.replace(ignored, '').replace(/^[\s\p{C}]+/u, '')
    return seen.startsWith('::') || /##[a-z]*\[/i.test(seen)
  })
  return [...lines, ...(text.match(/section_(?:start|end):\d+:/g) ?? [])]
}
