import {
  context,
  type Span as AnySpan,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { EdgewiseError } from './edgewise-error.ts'

/** Names of the spans, beside those of commands. HTTP calls are named after their method. */
export const spanNames = [
  'serve start',
  'serve fetch',
  'serve apply',
  'serve rollout step',
  'serve drift check',
  'fetch branch',
  'load workspace',
  'wait for lock',
  'load state',
  'plan',
  'wave',
  'write',
  'GET',
  'POST',
  'DELETE',
  'watch wave',
  'roll back wave',
  'load observed',
] as const

/** Names of what happens at an instant within a span. */
export const spanEvents = ['call budget wait', 'retry', 'settle wait'] as const

/** Names of the attributes: those of OpenTelemetry where it has one. */
export const spanAttributes = [
  'edgewise.workspace',
  'edgewise.status',
  'edgewise.apply',
  'edgewise.rollout',
  'edgewise.commit',
  'edgewise.changes',
  'edgewise.domains',
  'edgewise.items',
  'edgewise.writes',
  'edgewise.writes.confirmed',
  'edgewise.writes.refused',
  'edgewise.writes.in_doubt',
  'edgewise.writes.not_sent',
  'edgewise.wave',
  'edgewise.write',
  'edgewise.outcome',
  'edgewise.service.code',
  'edgewise.exit_code',
  'edgewise.verdict',
  'edgewise.wait.seconds',
  'edgewise.retry.reason',
  'error.type',
  'http.request.method',
  'http.response.status_code',
  'server.address',
  'server.port',
  'url.path',
] as const

export type SpanName = (typeof spanNames)[number] | `edgewise ${string}`
export type SpanEvent = (typeof spanEvents)[number]
/** Values by the name of their attribute. Never a value of configuration, nor a foreign text. */
export type SpanAttributes = Partial<
  Record<(typeof spanAttributes)[number], string | number | boolean>
>

/** A piece of work in a trace; it has the names above only. */
export interface Span extends AnySpan {
  setAttributes(attributes: SpanAttributes): this
  addEvent(name: SpanEvent, attributes: SpanAttributes): this
}

/** Key of the first span of a trace in its contexts. */
const rootKey = Symbol('first span of edgewise')
/** Spans that failed: what was closest to the failure knows it best. */
const failed = new WeakSet<Span>()

/** Runs work in a trace: within its first span. Nothing is recorded unless an SDK is registered. */
export function inTrace<T>(name: SpanName, work: (span: Span) => T): T {
  return runTraced(name, (span) =>
    context.with(context.active().setValue(rootKey, span), () => work(span)),
  )
}

/**
 * Runs work within a span below the current one, which ends with the work, and fails with it.
 * Outside of a trace there is no span: the program around the library may have traces of its own.
 */
export function inSpan<T>(
  name: SpanName,
  work: (span?: Span) => T,
  attributes?: SpanAttributes,
  kind?: SpanKind,
): T {
  return getRoot() === undefined ? work() : runTraced(name, work, { attributes, kind })
}

function runTraced<T>(
  name: SpanName,
  work: (span: Span) => T,
  options: { attributes?: SpanAttributes; kind?: SpanKind } = {},
): T {
  return trace.getTracer('edgewise').startActiveSpan(name, options, (span) => {
    const end = () => span.end()
    const fail = (cause: unknown) => {
      failSpan(span, cause instanceof EdgewiseError ? cause.code : 'defect')
      end()
    }
    try {
      const result = work(span)
      if (result instanceof Promise) result.then(end, fail)
      else end()
      return result
    } catch (cause) {
      fail(cause)
      throw cause
    }
  })
}

/** Returns the span of the work that runs now. */
export function getSpan(): Span | undefined {
  return getRoot() && trace.getActiveSpan()
}

/** Returns the first span of the trace that runs now. */
export function getRoot(): Span | undefined {
  return context.active().getValue(rootKey) as Span | undefined
}

/**
 * Marks a span as failed, if there is one. There is no message: it could quote a value of
 * configuration.
 *
 * @param type one of few words, for `error.type`
 */
export function failSpan(span: Span | undefined, type: string): void {
  if (span === undefined || failed.has(span)) return
  failed.add(span)
  span.setAttributes({ 'error.type': type }).setStatus({ code: SpanStatusCode.ERROR })
}
