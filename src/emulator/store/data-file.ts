import { readFileSync } from 'node:fs'
import { catalogue } from '../../catalog/catalogue.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import { isObject, own, type Json } from '../../model/json.ts'
import type { DomainRecord } from '../entities/domain-record.ts'
import type { Saved } from './store.ts'
import { writeDurably } from './write-durably.ts'

const format = 'edgewise.emulator/1'
const family = 'edgewise.emulator/'

/**
 * What a data file holds; nothing where there is no file (yet).
 * @throws EdgewiseError `record-damaged` for a file that is damaged or was written by a newer Edgewise.
 */
export function loadData(path: string): Saved {
  const text = readText(path)
  if (text === null) return { domains: new Map(), writeTimes: [] }
  const data = parse(text, path)
  const found = isObject(data) ? own(data, 'format') : undefined
  if (typeof found === 'string' && found !== format && found.startsWith(family)) {
    throw new EdgewiseError(
      'record-damaged',
      `the emulator's data file ${path} has the format "${found}", this version reads "${format}"`,
      'Use the version of Edgewise that wrote it, or name another data file.',
    )
  }
  if (!isObject(data) || found !== format) throw damaged(path, `expected an object with "format": "${format}"`)
  const domains = own(data, 'domains')
  const writeTimes = own(data, 'writeTimes')
  if (!isObject(domains)) throw damaged(path, 'expected "domains" to be an object')
  if (!Array.isArray(writeTimes) || !writeTimes.every((time) => typeof time === 'number')) {
    throw damaged(path, 'expected "writeTimes" to be a list of numbers')
  }
  return { domains: new Map(Object.entries(domains).map(([domain, record]) => [domain, readRecord(domain, record, path)])), writeTimes }
}

/** Writes a data file, readable by its owner only; it is whole and durable when this returns. Throws what the file system throws. */
export function saveData(path: string, { domains, writeTimes }: Saved): void {
  const records = [...domains].map(([domain, { id, items }]) => [domain, { id, items: Object.fromEntries(items) }])
  writeDurably(path, `${JSON.stringify({ format, writeTimes, domains: Object.fromEntries(records) as Json })}\n`)
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new EdgewiseError(
      'access',
      `the emulator's data file ${path} could not be read: ${message}`,
      'Name a file that can be read and written.',
    )
  }
}

function parse(text: string, path: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    // The parser's message quotes the file, which holds secrets.
    if (error instanceof SyntaxError) throw damaged(path, 'expected JSON, it is cut off or malformed')
    throw error
  }
}

function readRecord(domain: string, record: Json, path: string): DomainRecord {
  const id = isObject(record) ? own(record, 'id') : undefined
  const items = isObject(record) ? own(record, 'items') : undefined
  if (typeof id !== 'string' || !isObject(items)) throw damaged(path, `expected "${domain}" to have an "id" and "items"`)
  const unknown = Object.keys(items).find((item) => !catalogue.has(item))
  if (unknown !== undefined) throw damaged(path, `"${domain}" holds "${unknown}", which is no item`)
  return { id, items: new Map(Object.entries(items)) }
}

function damaged(path: string, detail: string): EdgewiseError {
  return new EdgewiseError(
    'record-damaged',
    `the emulator's data file ${path} is damaged: ${detail}`,
    'Restore it from a copy, or remove it: the emulator then starts with nothing configured.',
  )
}
