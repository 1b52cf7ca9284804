import { logFile, outcomesFile } from '../../core/model/generated/state-validators.ts'
import type { LogFile } from '../../core/model/generated/state-types.ts'
import { parseJson } from '../../core/model/json.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { createDamagedFileError, formatFile, parseFile } from './parse-file.ts'
import { buildAddressName, buildPlainName } from './state-paths.ts'

/** Formats one line of a log: changes that exist all together or not at all. */
export function formatLogLine(files: FileChanges): string {
  return formatFile(logFile, { files: Object.fromEntries(files) })
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
    return toChanges(files, `${place}:${i + 1}`, 'log')
  })
}

/** Lists the lines of a file of JSON lines, without a last one that is cut off. */
function listWholeLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const last = lines.at(-1)
  if (last !== undefined && parseJson(last) === undefined) lines.pop()
  return lines
}

/** Refuses a path that is not plain, or not within a folder. */
function toChanges(
  files: LogFile['files'],
  place: string,
  kind: 'log' | 'outcomes',
  home = '',
): FileChanges {
  const isInside = (path: string) =>
    path.startsWith(home) &&
    !/[\p{Cc}\\]/u.test(path) &&
    path.split('/').every((name) => !['', '.', '..'].includes(name))
  const outside = Object.keys(files).find((path) => !isInside(path))
  if (outside === undefined) return new Map(Object.entries(files))
  const fault = `${JSON.stringify(outside)} is no path of a file${home && ` of ${home}`}`
  throw createDamagedFileError(place, fault, kind)
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
    `${workspace}/unlocks/${name}/`,
    `salt/for-${name}/`,
    `budget/${name}/`,
  ].some((start) => path.startsWith(start))
}

/** Changes of a state's files that no commit has yet, and the message for their commit. */
export interface UncommittedChanges {
  message: string
  files: FileChanges
}

/** Formats changes that no commit has yet, as a line of their file. */
export function formatOutcomes({ message, files }: UncommittedChanges): string {
  return formatFile(outcomesFile, { message, files: Object.fromEntries(files) })
}

/**
 * Parses the lines of a file of changes that no commit has yet, as `parseLog` does.
 *
 * @param home folder of the state, which has all of their files
 * @throws EdgewiseError `record-damaged`
 */
export function parseOutcomes(place: string, home: string, text: string): UncommittedChanges[] {
  return listWholeLines(text).map((line, i) => {
    const { message, files } = parseFile(`${place}:${i + 1}`, line, 'outcomes', outcomesFile)
    return { message, files: toChanges(files, `${place}:${i + 1}`, 'outcomes', `${home}/`) }
  })
}
