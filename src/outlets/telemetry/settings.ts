import { parseUrl } from '../../core/model/text/url.ts'

type Environment = Record<string, string | undefined>

/** Settings of the export of traces. */
export interface TelemetrySettings {
  /** Time for an export with its retries, ms. */
  timeoutMs: number
  batch: {
    maxQueueSize: number
    maxExportBatchSize: number
    scheduledDelayMillis: number
    exportTimeoutMillis: number
  }
}

/** Longest wait for an export, ms: also for the last one, at the end of a command. */
export const maxExportMs = 3000

/** Returns whether the environment asks for traces: it names an endpoint, and nothing is off. */
export function asksForTelemetry(env: Environment): boolean {
  const isOff =
    env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true' ||
    env['OTEL_TRACES_EXPORTER']?.trim().toLowerCase() === 'none'
  return !isOff && findVariable(env, 'ENDPOINT') !== null
}

/**
 * Parses the settings that the SDK would not refuse. Warnings name variables, never their values,
 * which may have credentials.
 *
 * @returns null if nothing can be exported so
 */
export function parseTelemetrySettings(
  env: Environment,
  warn: (text: string) => void,
): TelemetrySettings | null {
  const exporters = env['OTEL_TRACES_EXPORTER']?.trim() ?? ''
  if (exporters !== '' && !exporters.split(',').some((each) => each.trim() === 'otlp')) {
    warn('OTEL_TRACES_EXPORTER names no exporter that edgewise has: only otlp. Telemetry is off.')
    return null
  }
  const endpoint = findVariable(env, 'ENDPOINT')
  if (endpoint === null || !isHttpAddress(endpoint.value)) {
    warn(`${endpoint?.name ?? 'The endpoint'} is not an http or https address. Telemetry is off.`)
    return null
  }
  const protocol = findVariable(env, 'PROTOCOL')
  if (protocol !== null && protocol.value !== 'http/protobuf') {
    warn(`${protocol.name} has to be http/protobuf. Telemetry is off.`)
    return null
  }
  const parse = (name: string, fallback: number, max: number, min = 1) => {
    const text = env[name]?.trim() ?? ''
    if (text === '') return fallback
    const value = Number(text)
    if (Number.isInteger(value) && value >= min && value <= max) return value
    warn(`${name} has to be an integer from ${min} to ${max}; it is ignored.`)
    return fallback
  }
  const hour = 3_600_000
  const timeout = findVariable(env, 'TIMEOUT')
  const asked = timeout === null ? maxExportMs : parse(timeout.name, maxExportMs, hour)
  return {
    timeoutMs: Math.min(maxExportMs, asked),
    batch: {
      maxQueueSize: parse('OTEL_BSP_MAX_QUEUE_SIZE', 2048, 100_000),
      maxExportBatchSize: parse('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 100_000),
      scheduledDelayMillis: parse('OTEL_BSP_SCHEDULE_DELAY', 5000, hour, 0),
      exportTimeoutMillis: parse('OTEL_BSP_EXPORT_TIMEOUT', 30_000, hour),
    },
  }
}

/** Finds a setting of the exporter: that for traces, or that for all signals. */
function findVariable(env: Environment, what: string): { name: string; value: string } | null {
  for (const name of [`OTEL_EXPORTER_OTLP_TRACES_${what}`, `OTEL_EXPORTER_OTLP_${what}`]) {
    const value = env[name]?.trim() ?? ''
    if (value !== '') return { name, value }
  }
  return null
}

function isHttpAddress(text: string): boolean {
  return /^https?:$/.test(parseUrl(text)?.protocol ?? '')
}
