import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import { isObject, getOwn, type Json } from '../../model/json.ts'
import { isAccountChange } from './account-memory.ts'
import { createMemory, applyChange, type MemoryChange, type Memory } from './memory.ts'
import { format, olderFormat, parseSnapshot, refuseUnknownItems } from './snapshot.ts'

const maxBytes = 500 * 1024 * 1024

const family = 'edgewise.emulator/'

/**
 * Loads a data file; empty if it does not exist. An incomplete last line was never answered and
 * does not count.
 *
 * @throws EdgewiseError `record-damaged` for a damaged file (naming the line) or one written by a
 *   newer Edgewise
 */
export function loadData(path: string): Memory {
  const text = loadText(path)
  if (text === null) return createMemory()
  const [first = '', ...rest] = text.split('\n')
  const memory = parseFirstLine(first, path)
  // The text after the last line break is empty or incomplete.
  for (const [i, line] of rest.slice(0, -1).entries()) {
    parseLine(i + 2, path, () => applyChange(memory, parseChange(parse(line))))
  }
  return memory
}

function parseFirstLine(line: string, path: string): Memory {
  return parseLine(1, path, () => {
    const data = parse(line)
    const found = isObject(data) ? getOwn(data, 'format') : undefined
    if (!isObject(data) || typeof found !== 'string' || !found.startsWith(family)) {
      throw new Error(`expected an object with "format": "${format}"`)
    }
    if (found !== format && found !== olderFormat) throw createNewerFormatError(path, found)
    return parseSnapshot(data)
  })
}

/** Parses a change as stored; its values are results of the service itself. */
function parseChange(data: Json): MemoryChange {
  if (!isObject(data) || typeof data['at'] !== 'number')
    throw new Error('expected a change with "at"')
  const { domains = {}, prefetch, dead, account } = data
  if (!isObject(domains)) throw new Error('expected "domains" to be an object')
  for (const [domain, record] of Object.entries(domains)) {
    if (!isObject(record) || typeof record['id'] !== 'string' || !isObject(record['items'])) {
      throw new Error(`expected "${domain}" to have an "id" and "items"`)
    }
    refuseUnknownItems(domain, record['items'])
  }
  if (
    prefetch !== undefined &&
    !(isObject(prefetch) && typeof prefetch['task'] === 'number' && areTexts(prefetch['urls']))
  ) {
    throw new Error('expected "prefetch" to have a "task" and "urls"')
  }
  if (dead !== undefined && !areTexts(dead))
    throw new Error('expected "dead" to be a list of addresses')
  if (account !== undefined && !isAccountChange(account))
    throw new Error('expected "account" to be a change of domains or certificates')
  return data as unknown as MemoryChange
}

function areTexts(value: Json | undefined): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

function loadText(path: string): string | null {
  const bytes = loadBounded(path, maxBytes)
  if (!isFault(bytes)) return bytes.toString('utf8')
  if (bytes.code === 'ENOENT') return null
  throw new EdgewiseError(
    'access',
    `the emulator's data file ${path} could not be read: ${bytes.reason}`,
    'Choose a file that can be read and written.',
  )
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    // The message of the parser quotes the file, which contains secrets.
    if (error instanceof SyntaxError)
      throw new Error('expected JSON, the line is incomplete or malformed', { cause: error })
    throw error
  }
}

function parseLine<T>(number: number, path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof EdgewiseError) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new EdgewiseError(
      'record-damaged',
      `the emulator's data file ${path} is damaged: line ${number}: ${message}`,
      'Restore it from a copy, or remove it: the emulator then starts with nothing configured.',
    )
  }
}

function createNewerFormatError(path: string, found: string): EdgewiseError {
  return new EdgewiseError(
    'record-damaged',
    `the emulator's data file ${path} has the format "${found}", this version reads "${format}"`,
    'Use the version of Edgewise that wrote it, or name another data file.',
  )
}
