/** Formats data for a script as an element; no text in it can end the element. */
export function formatJson(id: string, data: unknown): string {
  const text = JSON.stringify(data).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `<script type="application/json" id="${id}">${text}</script>`
}
