/** Position in a trace of another program. */
export interface TraceParent {
  traceId: string
  spanId: string
  traceFlags: number
}

/**
 * Parses a `traceparent` (W3C Trace Context); null if it is not valid. A later version may have
 * more fields.
 */
export function parseParent(text: string): TraceParent | null {
  const match = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(text.trim())
  const [, version = 'ff', traceId = '', spanId = '', flags = '', rest = ''] = match ?? []
  const isValid = version !== 'ff' && (version !== '00' || rest === '')
  if (!isValid || /^0*$/.test(traceId) || /^0*$/.test(spanId)) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 }
}
