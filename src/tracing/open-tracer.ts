import type { Context } from '@opentelemetry/api'
import type { SpanExporter } from '@opentelemetry/sdk-trace-base'
import type { Tracer } from '../model/tracing.ts'
import { createTracer } from './create-tracer.ts'
import { describeExportError } from './export-error.ts'
import { parseParent } from './parse-parent.ts'
import { maxExportMs, parseTraceSettings, type TraceSettings } from './settings.ts'

type Sdk = typeof import('./sdk.ts')

/** What traces are exported with. */
export interface TracingOptions {
  /** The environment of this process: the SDK reads its own variables there. */
  env: Record<string, string | undefined>
  version: string
  /** Whether only work that begins a trace of its own is traced, and TRACEPARENT is not used. */
  onlyRoots?: boolean
  warn(text: string): void
  /** Called when an export fails, with the reason, and with null when one works. */
  onExport?(problem: string | null): void
}

/** Tracer that exports spans until it is closed. */
export interface OpenTracer extends Tracer {
  /**
   * Exports the spans that are left, for at most some seconds.
   *
   * @returns `problem`: why spans are lost, null if none are; `isStuck`: something of the exporter
   * is left that may keep the process alive
   */
  close(): Promise<{ problem: string | null; isStuck: boolean }>
}

/** Longest time that `close` takes, ms: longer than an export may take. */
const maxCloseMs = maxExportMs + 1000

const packages = ['@opentelemetry/resources@2', '@opentelemetry/sdk-trace-base@2']
/** Package of the exporter of each protocol. */
const exporters = {
  'http/protobuf': '@opentelemetry/exporter-trace-otlp-proto@0.223',
  'http/json': '@opentelemetry/exporter-trace-otlp-http@0.223',
}

/**
 * Loads the SDK and opens a tracer, as the environment asks for. Registers nothing globally, and
 * neither detects nor patches anything. Never throws: without the SDK it warns.
 *
 * @returns null if there can be no traces
 */
export async function openTracer(options: TracingOptions): Promise<OpenTracer | null> {
  const { env, warn } = options
  const settings = parseTraceSettings(env, warn)
  if (settings === null) return null
  try {
    const sdk = await import('./sdk.ts')
    const Exporter =
      settings.protocol === 'http/json'
        ? (await import('./json-exporter.ts')).OTLPTraceExporter
        : sdk.OTLPTraceExporter
    return warnOfVariables(sdk, warn, () =>
      build(sdk, settings, new Exporter({ timeoutMillis: settings.timeoutMs }), options),
    )
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    warn(
      ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(code)
        ? 'traces are off: they need packages that are not installed. Install them beside ' +
            `edgewise: npm install ${[...packages, exporters[settings.protocol]].join(' ')}`
        : `traces are off: the OpenTelemetry SDK failed (${describeExportError(error)})`,
    )
    return null
  }
}

function build(
  sdk: Sdk,
  { batch }: TraceSettings,
  exporter: SpanExporter,
  options: TracingOptions,
): OpenTracer {
  let [lost, problem]: [number, string | null] = [0, null]
  const watched: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const code: number = result.code
        const isLost = code !== 0
        if (isLost) {
          lost += spans.length
          problem = describeExportError(result.error)
        }
        options.onExport?.(isLost ? problem : null)
        done(result)
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
  const { defaultResource, resourceFromAttributes, detectResources, envDetector } = sdk
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = sdk
  const named = { 'service.name': 'edgewise', 'service.version': options.version }
  const provider = new sdk.BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(named))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(watched, batch)],
  })
  const tracer = provider.getTracer('edgewise', options.version)
  const parent = options.onlyRoots === true ? null : findParent(sdk, options)
  return {
    ...createTracer({ ROOT_CONTEXT, SpanKind, SpanStatusCode, trace }, tracer, parent),
    close: async () => {
      // A failed export is counted already.
      const ended = provider.shutdown().then(
        () => true,
        () => true,
      )
      const isEnded = await within(ended, maxCloseMs)
      const reason = isEnded ? problem : `no answer within ${maxCloseMs / 1000} seconds`
      const count = lost > 0 ? `${lost} spans` : 'spans'
      const text = `${count} could not be exported to the OTLP endpoint: ${reason ?? ''}`
      return { problem: isEnded && lost === 0 ? null : text, isStuck: !isEnded }
    },
  }
}

/** Finds the span of the program that started this one. */
function findParent(sdk: Sdk, { env, warn }: TracingOptions): Context {
  const text = env['TRACEPARENT'] ?? ''
  if (text.trim() === '') return sdk.ROOT_CONTEXT
  const parent = parseParent(text)
  if (parent === null) {
    warn('TRACEPARENT is not a trace context of the W3C; it is ignored.')
    return sdk.ROOT_CONTEXT
  }
  const traceState = sdk.createTraceState(env['TRACESTATE'] ?? '')
  return sdk.trace.setSpanContext(sdk.ROOT_CONTEXT, { ...parent, traceState, isRemote: true })
}

/** Files of certificates that the SDK could not read. */
const unread = /^Failed to read (?:root|client) certificate [a-z ]*file/
/** Numbers that edgewise checks itself, and warns of. */
const checked = /_TIMEOUT$|_BSP_/

/** Warns of what the SDK ignores, without the values of variables. */
function warnOfVariables<T>(sdk: Sdk, warn: (text: string) => void, work: () => T): T {
  const warnings = new Set<string>()
  const find = (message: string) => {
    const file = unread.exec(message)?.[0]
    if (file !== undefined) warnings.add(`OTLP endpoint: ${file.toLowerCase()}; it is ignored.`)
    for (const name of message.match(/\bOTEL_[A-Z_]+/g) ?? [])
      if (!checked.test(name)) warnings.add(`${name} has no valid value; it is ignored.`)
  }
  const ignore = () => undefined
  sdk.diag.setLogger(
    { error: find, warn: find, info: ignore, debug: find, verbose: ignore },
    { logLevel: sdk.DiagLogLevel.DEBUG, suppressOverrideMessage: true },
  )
  try {
    return work()
  } finally {
    sdk.diag.disable()
    for (const text of warnings) warn(text)
  }
}

/** Waits for the end of work, at most for some time; returns whether it has ended. */
async function within(work: Promise<boolean>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
