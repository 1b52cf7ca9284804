import { logFile } from '../../generated/state-validators.ts'
import type { LogFile } from '../../generated/state-types.ts'
import { parseJson } from '../../model/json.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { createDamagedFileError, parseFile } from './parse-file.ts'
import { buildAddressName, buildPlainName } from './state-paths.ts'

/** Formats one line of a log: changes that exist all together or not at all. */
export function formatLogLine(files: FileChanges): string {
  const line: LogFile = { format: logFile.name, files: Object.fromEntries(files) }
  return `${JSON.stringify(line)}\n`
}

/**
 * Parses the lines of a log. The last one is ignored if it is not whole: the power failed, or the
 * process died, before it was durable.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseLog(place: string, text: string): FileChanges[] {
  return listWholeLines(text).map((line, i) => {
    const { files } = parseFile(`${place}:${i + 1}`, line, 'log', logFile)
    const outside = Object.keys(files).find((path) => !isInside(path))
    if (outside !== undefined)
      throw createDamagedFileError(`${place}:${i + 1}`, `${outside} is no path of a file`, 'log')
    return new Map(Object.entries(files))
  })
}

/** Lists the lines of a file of JSON lines, without a last one that is cut off. */
export function listWholeLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const last = lines.at(-1)
  if (last !== undefined && parseJson(last) === undefined) lines.pop()
  return lines
}

function isInside(path: string): boolean {
  return path.split('/').every((name) => !['', '.', '..'].includes(name) && !name.includes('\\'))
}

/** Process that has a log: its account, and the workspace at an address. */
export interface LogOwner {
  id: string
  address: string
  account: string
}

/** Builds the name of a log; none has it again, since a lock has each number once. */
export function buildLogName({ id, address, account }: LogOwner, numbers: number[]): string {
  const names = [buildPlainName(account), buildPlainName(id), shortenAddress(address)]
  return `${names.join('.')}.${numbers.join('-')}.jsonl`
}

/**
 * Tests whether a log is of the same account, so that its lock protects it, or of the same
 * workspace, whose account may have been changed.
 */
export function isOwnLog({ id, address, account }: LogOwner, name: string): boolean {
  const [ofAccount, ofId, at] = name.split('.')
  return (
    at === shortenAddress(address) &&
    (ofAccount === buildPlainName(account) || ofId === buildPlainName(id))
  )
}

function shortenAddress(address: string): string {
  return buildAddressName(address).slice(0, 16)
}

/**
 * Tests whether only processes of this workspace, or with the same lock, change a path: only then
 * its changes may wait in the log.
 */
export function isOwnPath({ id, address }: LogOwner, path: string): boolean {
  const [workspace, name] = [buildPlainName(id), buildAddressName(address)]
  return [
    `${workspace}/${name}/`,
    `${workspace}/addresses/${name}.json`,
    `${workspace}/doubts/${name}/`,
    `salt/for-${name}/`,
    `budget/${name}/`,
  ].some((start) => path.startsWith(start))
}
