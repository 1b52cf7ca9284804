import { EdgewiseError, throwDefect } from '../core/model/edgewise-error.ts'
import type { Clock } from '../core/model/time/clock.ts'
import type { SecretHider } from '../core/model/secret.ts'
import { markForeign } from '../core/model/text/text-makers.ts'
import { isObject, type Json, type JsonObject } from '../core/model/json.ts'
import { escapeInvisible, escapeStray } from '../outlets/report/text/escape-invisible.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof levels)[number]

/** Longer strings are cut, characters. */
const maxLength = 8192

/** A structured log: one line for each call. */
export type Logger = Record<Level, (message: string, fields?: JsonObject) => void> &
  SecretHider & {
    /** Replaces what hides secrets, when other secrets are loaded. */
    setSecrets(hider: SecretHider): void
    /** Adds fields to each line of JSON. */
    setFields(fields: JsonObject): void
  }

/** Ports and settings of a logger. */
export interface LoggerOptions {
  clock: Pick<Clock, 'now'>
  /** Prints one line, with its end. */
  out(line: string): void
  /** `text` is for people at a terminal. */
  format: 'json' | 'text'
  /** Lowest level that is logged. */
  level: Level
}

/** Creates a logger. Whole secrets are replaced in each string before it is cut and escaped. */
export function createLogger({ clock, out, format, level }: LoggerOptions): Logger {
  let shared: JsonObject = {}
  let hider: SecretHider = { scrub: (text) => text, redact: (text) => text }
  const cut = (text: string) => {
    const cleaned = hider.redact(text)
    return cleaned.length > maxLength ? `${cleaned.slice(0, maxLength)}…` : cleaned
  }
  const cleanAll = (value: Json): Json => {
    if (typeof value === 'string') return cut(value)
    if (Array.isArray(value)) return value.map(cleanAll)
    return isObject(value) ? cleanFields(value) : value
  }
  const cleanFields = (fields: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [cut(key), cleanAll(value)]))
  const log =
    (own: Level) =>
    (message: string, fields: JsonObject = {}) => {
      if (levels.indexOf(own) < levels.indexOf(level)) return
      const entry = { time: new Date(clock.now()).toISOString(), level: own, message: cut(message) }
      const cleaned = cleanFields(format === 'json' ? { ...shared, ...fields } : fields)
      if (format === 'json')
        out(`${escapeStray(JSON.stringify({ ...entry, ...cleaned, ...entry }), false)}\n`)
      else out(`${formatText(entry, cleaned)}\n`)
    }
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    setSecrets: (next) => {
      hider = next
    },
    setFields: (fields) => {
      shared = { ...shared, ...fields }
    },
    scrub: (...given) => hider.scrub(...given),
    redact: (text) => hider.redact(text),
  }
}

function formatText(
  { time, level, message }: { time: string; level: Level; message: string },
  fields: JsonObject,
): string {
  const pairs = Object.entries(fields).map(([key, value]) => {
    const isPlain = typeof value === 'string' && /^[\w.:/@+-]+$/.test(value)
    return `${key}=${isPlain ? value : JSON.stringify(value)}`
  })
  return escapeInvisible([time, level.padEnd(5), message, ...pairs].join(' '))
}

/** Creates what logs a failure that its caller can live with; it throws a defect. */
export function logFailure(log: Logger[Level], what: string): (error: unknown) => void {
  return (error) => {
    throwDefect(error)
    log(what, { code: error.code, error: error.message })
  }
}

/** Describes what was thrown: by the message if the error is for users, else by the stack. */
export function describeThrown(error: unknown, { scrub }: Pick<SecretHider, 'scrub'>): string {
  if (error instanceof EdgewiseError) return error.message
  return scrub(markForeign(error instanceof Error ? (error.stack ?? error.message) : String(error)))
}
