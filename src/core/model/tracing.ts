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

/**
 * API of OpenTelemetry (`@opentelemetry/api`), through which work is traced: what is used of it. It
 * is handed on, so that only commands that are traced load it, or its types.
 */
export interface Tracer {
  trace: {
    getTracer(name: string): {
      startSpan(name: string, options: SpanAbout, context: Context): Span
    }
    getActiveSpan(): Span | undefined
    setSpan(context: Context, span: Span): Context
  }
  context: {
    active(): Context
    with<T>(context: Context, work: () => T): T
  }
}

/** A piece of work in a trace. */
export interface Span {
  setAttributes(attributes: SpanAttributes): unknown
  addEvent(name: SpanEvent, attributes: SpanAttributes): unknown
  setStatus(status: { code: number }): unknown
  end(): void
}

interface Context {
  getValue(key: symbol): unknown
  setValue(key: symbol, value: unknown): Context
  deleteValue(key: symbol): Context
}

interface SpanAbout {
  kind: number
  attributes: SpanAttributes
}

export interface SpanOptions {
  /** `root`: begins a trace; `client`: the span is a call of a service. */
  kind?: 'root' | 'client'
  attributes?: SpanAttributes
}

/** Kinds of spans, and the status of one that failed, as the API numbers them. */
const [internal, client, error] = [0, 2, 2] as const
/** Key of the first span of a trace in its contexts. */
const rootKey = Symbol('first span of edgewise')
/** Spans that failed: what was closest to the failure knows it best. */
const failed = new WeakSet<Span>()

/**
 * Runs work within a span below the current one, which ends with the work, and fails with it.
 * Without a tracer, or outside of a trace, there is no span.
 */
export function inSpan<T>(
  tracer: Tracer | undefined,
  name: SpanName,
  work: (span?: Span) => T,
  { kind, attributes = {} }: SpanOptions = {},
): T {
  if (tracer === undefined || (kind !== 'root' && getRoot(tracer) === undefined)) return work()
  const above = tracer.context.active()
  const options = { kind: kind === 'client' ? client : internal, attributes }
  const span = tracer.trace.getTracer('edgewise').startSpan(name, options, above)
  const own = tracer.trace.setSpan(above, span)
  const context: Context = kind === 'root' ? own.setValue(rootKey, span) : own
  return tracer.context.with(context, () => {
    const fail = (cause: unknown) => {
      failSpan(span, cause instanceof EdgewiseError ? cause.code : 'defect')
      span.end()
    }
    try {
      const result = work(span)
      if (result instanceof Promise) result.then(() => span.end(), fail)
      else span.end()
      return result
    } catch (cause) {
      fail(cause)
      throw cause
    }
  })
}

/** Returns the span of the work that runs now. */
export function getSpan(tracer: Tracer | undefined): Span | undefined {
  return tracer?.trace.getActiveSpan()
}

/** Returns the first span of the trace that runs now. */
export function getRoot(tracer: Tracer | undefined): Span | undefined {
  return tracer?.context.active().getValue(rootKey) as Span | undefined
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
  span.setAttributes({ 'error.type': type })
  span.setStatus({ code: error })
}
