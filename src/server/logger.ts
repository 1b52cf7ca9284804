import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Clock } from '../core/model/time/clock.ts'
import { isObject, type Json, type JsonObject } from '../core/model/json.ts'
import { escapeInvisible, escapeStray } from '../outlets/report/text/escape-invisible.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof levels)[number]

/** Longer strings are cut, characters. */
const maxLength = 8192

/** A structured log: one line for each call. */
export type Logger = Record<Level, (message: string, fields?: JsonObject) => void> & {
  /** Replaces the function that removes secrets, when other secrets are loaded. */
  setScrub(scrub: (text: string) => string): void
  /** Removes the same secrets from a text for people outside of the log. */
  scrub(text: string): string
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
  scrub?(text: string): string
}

/** Creates a logger. Secrets are removed from every string before it is cut and escaped. */
export function createLogger({ clock, out, format, level, scrub }: LoggerOptions): Logger {
  let clean = scrub ?? ((text: string) => text)
  const cut = (text: string) => {
    const cleaned = clean(text)
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
      const cleaned = cleanFields(fields)
      if (format === 'json')
        out(`${escapeStray(JSON.stringify({ ...entry, ...cleaned, ...entry }), false)}\n`)
      else out(`${formatText(entry, cleaned)}\n`)
    }
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    setScrub: (next) => {
      clean = next
    },
    scrub: (text) => clean(text),
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

/** Describes what was thrown: by the message if the error is for users, else by the stack. */
export function describeThrown(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof EdgewiseError ? error.message : (error.stack ?? error.message)
}
