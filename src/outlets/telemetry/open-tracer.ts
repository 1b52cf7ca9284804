import { AsyncLocalStorage } from 'node:async_hooks'
import {
  context,
  createTraceState,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  trace,
  type Context,
  type ContextManager,
  type SpanContext,
} from '@opentelemetry/api'
import type { SpanExporter } from '@opentelemetry/sdk-trace-base'
import { maxExportMs, parseTelemetrySettings, type TelemetrySettings } from './settings.ts'

type Sdk = typeof import('./sdk.ts')

/** Context of the export of traces. */
export interface TelemetryOptions {
  /** The environment of this process: the SDK reads its own variables there. */
  env: Record<string, string | undefined>
  version: string
  /** Names this process among the replicas; absent for a command. */
  instance?: string
  /** Whether TRACEPARENT is not used: each piece of work begins a trace of its own. */
  ignoreParent?: boolean
  warn(text: string): void
  /** Called when an export fails, with the reason, and with null when one works. */
  onExport?(problem: string | null): void
}

/** Export of spans, until it is closed. */
export interface OpenTracer {
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

const packages =
  '@opentelemetry/resources@2 @opentelemetry/sdk-trace-base@2 ' +
  '@opentelemetry/exporter-trace-otlp-proto@0.223'

/**
 * Loads the SDK and registers it for this process, as the environment asks for; neither detects nor
 * patches anything. Never throws: without the SDK it warns.
 *
 * @returns null if there can be no traces
 */
export async function openTracer(options: TelemetryOptions): Promise<OpenTracer | null> {
  const { env, warn } = options
  const settings = parseTelemetrySettings(env, warn)
  if (settings === null) return null
  try {
    const sdk = await import('./sdk.ts')
    return warnOfVariables(warn, () => build(sdk, settings, options))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    warn(
      ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(code)
        ? 'telemetry is off: it needs packages that are not installed. Install them beside ' +
            `edgewise: npm install ${packages}`
        : `telemetry is off: the OpenTelemetry SDK failed (${describeError(error)})`,
    )
    return null
  }
}

function build(
  sdk: Sdk,
  { batch, timeoutMs }: TelemetrySettings,
  options: TelemetryOptions,
): OpenTracer {
  let [lost, problem]: [number, string | null] = [0, null]
  const exporter = new sdk.OTLPTraceExporter({ timeoutMillis: timeoutMs })
  const watched: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const isLost = (result.code as number) !== 0
        if (isLost) {
          lost += spans.length
          problem = describeError(result.error)
        }
        options.onExport?.(isLost ? problem : null)
        done(result)
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
  const named = {
    'service.name': 'edgewise',
    'service.version': options.version,
    'service.instance.id': options.instance,
  }
  const provider = new sdk.BasicTracerProvider({
    resource: sdk
      .defaultResource()
      .merge(sdk.resourceFromAttributes(named))
      .merge(sdk.detectResources({ detectors: [sdk.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(watched, batch)],
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(createContexts(findParent(options)))
  return {
    close: async () => {
      context.disable()
      trace.disable()
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

/** Creates contexts that follow asynchronous work. */
function createContexts(parent: Context): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const contexts: ContextManager = {
    active: () => storage.getStore() ?? parent,
    with: (own, work, self, ...args) => storage.run(own, () => work.apply(self, args)),
    bind: (_, target) => target,
    enable: () => contexts,
    disable: () => {
      // As long as it is there, every promise of the process costs more.
      storage.disable()
      return contexts
    },
  }
  return contexts
}

/** Finds the span of the program that started this one. */
function findParent({ env, warn, ignoreParent = false }: TelemetryOptions): Context {
  const text = env['TRACEPARENT']?.trim() ?? ''
  if (ignoreParent || text === '') return ROOT_CONTEXT
  const parent = parseParent(text)
  if (parent === null) {
    warn('TRACEPARENT is not a trace context of the W3C; it is ignored.')
    return ROOT_CONTEXT
  }
  const traceState = createTraceState(env['TRACESTATE'] ?? '')
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceState, isRemote: true })
}

/**
 * Parses a `traceparent` (W3C Trace Context); null if it is not valid. A later version may have
 * more fields.
 */
function parseParent(text: string): SpanContext | null {
  const match = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(text)
  const [, version = 'ff', traceId = '', spanId = '', flags = '', rest = ''] = match ?? []
  const isValid = version !== 'ff' && (version !== '00' || rest === '')
  if (!isValid || /^0*$/.test(traceId) || /^0*$/.test(spanId)) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 }
}

/** Describes why an export failed, without foreign texts: an answer, an address, a header. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'the export failed'
  const code = 'code' in error ? error.code : undefined
  if (typeof code === 'number') return `the answer was HTTP ${code}`
  if (code === 'ERR_INVALID_CHAR') return 'OTEL_EXPORTER_OTLP_HEADERS has an invalid header'
  if (typeof code === 'string' && /^[A-Z][A-Z\d_]*$/.test(code)) return code
  return error.message === 'Request timed out' ? 'no answer in time' : 'the export failed'
}

/** Files of certificates that the SDK could not read. */
const unread = /^Failed to read (?:root|client) certificate [a-z ]*file/
/** Numbers that edgewise checks itself, and warns of. */
const checked = /_TIMEOUT$|_BSP_/

/** Warns of what the SDK ignores, without the values of variables. */
function warnOfVariables<T>(warn: (text: string) => void, work: () => T): T {
  const warnings = new Set<string>()
  const find = (message: string) => {
    const file = unread.exec(message)?.[0]
    if (file !== undefined) warnings.add(`OTLP endpoint: ${file.toLowerCase()}; it is ignored.`)
    for (const name of message.match(/\bOTEL_[A-Z_]+/g) ?? [])
      if (!checked.test(name)) warnings.add(`${name} has no valid value; it is ignored.`)
  }
  const ignore = () => undefined
  diag.setLogger(
    { error: find, warn: find, info: ignore, debug: find, verbose: ignore },
    { logLevel: DiagLogLevel.DEBUG, suppressOverrideMessage: true },
  )
  try {
    return work()
  } finally {
    diag.disable()
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
