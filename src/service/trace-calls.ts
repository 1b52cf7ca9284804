import { SpanKind } from '@opentelemetry/api'
import { failSpan, inSpan } from '../core/model/telemetry.ts'
import { findFailureCode } from './call-failure.ts'
import type { Transport } from './transport.ts'

/**
 * Adds a span to each call of a transport. A query and credentials of the address are left out, and
 * the service gets no header of the trace.
 */
export function traceCalls(transport: Transport): Transport {
  return (request) => {
    const { hostname, port, pathname, protocol } = new URL(request.url)
    const method = request.method ?? (request.body === undefined ? 'GET' : 'POST')
    const attributes = {
      'http.request.method': method,
      'server.address': hostname.replaceAll(/[[\]]/g, ''),
      'server.port': port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
      'url.path': pathname,
    }
    return inSpan(
      method,
      async (span) => {
        try {
          const answer = await transport(request)
          span?.setAttributes({ 'http.response.status_code': answer.status })
          if (answer.status >= 400) failSpan(span, String(answer.status))
          return answer
        } catch (error) {
          failSpan(span, findFailureCode(error))
          throw error
        }
      },
      attributes,
      SpanKind.CLIENT,
    )
  }
}
