/** Describes why an export failed, without foreign texts: an answer, an address, a header. */
export function describeExportError(error: unknown): string {
  if (!(error instanceof Error)) return 'the export failed'
  const code = 'code' in error ? error.code : undefined
  if (typeof code === 'number') return `the answer was HTTP ${code}`
  if (code === 'ERR_INVALID_CHAR') return 'OTEL_EXPORTER_OTLP_HEADERS has an invalid header'
  if (typeof code === 'string' && /^[A-Z][A-Z\d_]*$/.test(code)) return code
  return error.message === 'Request timed out' ? 'no answer in time' : 'the export failed'
}
