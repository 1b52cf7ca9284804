/** Names of the spans, beside those of commands. HTTP calls are named after their method. */
export const spanNames = [
  'serve start',
  'serve round',
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

/** A piece of work in a trace. */
export interface Span {
  set(attributes: SpanAttributes): void
  addEvent(name: SpanEvent, attributes: SpanAttributes): void
  /**
   * Marks the work as failed. There is no message: it could quote a value of configuration.
   *
   * @param type one of few words, for `error.type`
   */
  fail(type: string): void
}

/** Records traces. */
export interface Tracer {
  /**
   * Runs work within a span below the current one. It ends with the work, and fails with it.
   *
   * @param options `root`: begins a trace of its own; `client`: the span is a call of a service
   */
  run<T>(name: SpanName, work: (span: Span) => T, options?: SpanOptions): T
  /** Returns the span of the work that runs now. */
  current(): Span
  /** Returns the first span of the trace that runs now. */
  root(): Span
  /** Removes the secrets of one more workspace from all texts from now on. */
  addScrub(scrub: (text: string) => string): void
}

export interface SpanOptions {
  kind?: 'root' | 'client'
  attributes?: SpanAttributes
}

/** Records nothing. */
export const noSpan: Span = {
  set: () => undefined,
  addEvent: () => undefined,
  fail: () => undefined,
}

/** Runs work within a span, or without one if there is no tracer. */
export function inSpan<T>(
  tracer: Tracer | undefined,
  name: SpanName,
  work: (span: Span) => T,
  options?: SpanOptions,
): T {
  return tracer === undefined ? work(noSpan) : tracer.run(name, work, options)
}
