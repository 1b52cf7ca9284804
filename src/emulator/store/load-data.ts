import { readFileSync } from 'node:fs'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import { isObject, getOwn, type Json } from '../../model/json.ts'
import { createMemory, applyChange, type MemoryChange, type Memory } from './memory.ts'
import { format, olderFormat, parseSnapshot, refuseUnknownItems } from './snapshot.ts'

const family = 'edgewise.emulator/'

/**
 * What a data file holds; nothing where there is no file (yet). A last line that was cut off had
 * not been answered, and does not count.
 * @throws EdgewiseError `record-damaged` for a file that is damaged (it names the line) or was
 * written by a newer Edgewise.
 */
export function loadData(path: string): Memory {
  const text = readText(path)
  if (text === null) return createMemory()
  const [first = '', ...rest] = text.split('\n')
  const memory = memoryOf(first, path)
  // What follows the last line break is nothing, or was cut off.
  for (const [i, line] of rest.slice(0, -1).entries()) {
    inLine(i + 2, path, () => applyChange(memory, readChange(parse(line))))
  }
  return memory
}

function memoryOf(line: string, path: string): Memory {
  return inLine(1, path, () => {
    const data = parse(line)
    const found = isObject(data) ? getOwn(data, 'format') : undefined
    if (!isObject(data) || typeof found !== 'string' || !found.startsWith(family)) {
      throw new Error(`expected an object with "format": "${format}"`)
    }
    if (found !== format && found !== olderFormat) throw newer(path, found)
    return parseSnapshot(data)
  })
}

/** A change as it was written; its values are what the service itself had made of a write. */
function readChange(data: Json): MemoryChange {
  if (!isObject(data) || typeof data['at'] !== 'number')
    throw new Error('expected a change with "at"')
  const { domains = {}, prefetch, dead } = data
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
  return data as unknown as MemoryChange
}

function areTexts(value: Json | undefined): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
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

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    // The parser's message quotes the file, which holds secrets.
    if (error instanceof SyntaxError)
      throw new Error('expected JSON, it is cut off or malformed', { cause: error })
    throw error
  }
}

function inLine<T>(number: number, path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof EdgewiseError) throw error
    throw new EdgewiseError(
      'record-damaged',
      `the emulator's data file ${path} is damaged: line ${number}: ${error instanceof Error ? error.message : String(error)}`,
      'Restore it from a copy, or remove it: the emulator then starts with nothing configured.',
    )
  }
}

function newer(path: string, found: string): EdgewiseError {
  return new EdgewiseError(
    'record-damaged',
    `the emulator's data file ${path} has the format "${found}", this version reads "${format}"`,
    'Use the version of Edgewise that wrote it, or name another data file.',
  )
}
