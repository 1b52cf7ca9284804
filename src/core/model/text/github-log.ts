/** Escapes a text for a command of the log of GitHub Actions, such as `::error::TEXT`. */
export function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
