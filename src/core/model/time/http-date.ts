const imfFixdate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Formats an instant, ms since 1970, as the `Date` header of HTTP, which has whole seconds. */
export function formatDate(atMs: number): string {
  return new Date(atMs).toUTCString()
}

/** Parses a `Date` header to ms since 1970; null if it is absent or not an HTTP date. */
export function parseDate(text: string | null): number | null {
  if (text === null || !imfFixdate.test(text)) return null
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : atMs
}
