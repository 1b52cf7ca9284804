import { gunzipSync } from 'node:zlib'
import type { Workspace, WorkspaceConfig } from '../../manifest/workspace-file/workspace.ts'
import { join, resolve } from 'node:path'
import { readCombinedLog } from '../../core/effects/requests/parse-log.ts'
import type { RequestFile } from '../../core/effects/requests/parse-requests.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { findFiles } from '../../manifest/manifests/find-files.ts'
import { readRequestFile } from '../../manifest/requests/request-file.ts'
import type { EffectsRequest } from '../../operations/tracing/effects.ts'
import type { Assumptions } from '../../operations/tracing/candidates.ts'
import { findCheckout } from '../../state/git/find-repository.ts'
import { readAssumptions } from './assumptions.ts'
import type { EffectsOptions } from '../commands/options.ts'
import type { GlobalOptions, Io } from '../io.ts'
import { decodeText, type DecodedText } from '../../core/model/input-limits.ts'
import { findCode } from '../../files/look.ts'
import { loadFile, maxBytes } from '../load-file.ts'

/** Where a command runs, and whether it shows details. */
export interface EffectsContext {
  io: Pick<Io, 'cwd'>
  options: Pick<GlobalOptions, 'verbose'>
}

/**
 * Reads the requests whose effects are shown: those of the options, otherwise those of the
 * workspace file; null without any.
 *
 * @throws EdgewiseError `usage` if a file has no request, or an option needs another one
 */
export function readEffectsRequest(
  { io, options: { verbose } }: EffectsContext,
  { root, config }: Pick<Workspace, 'root' | 'config'>,
  options: EffectsOptions,
): EffectsRequest | null {
  const { requests, log, base, sample } = options
  refuseLonely(options)
  const load = (path: string, called: string, hint: string, decode = decodeText) =>
    loadFile(path, called, hint, findCheckout(io.cwd), decode)
  const named = requests.map((path) => {
    const text = load(resolve(io.cwd, path), path, '', log === undefined ? decodeText : decodeLog)
    return log === undefined
      ? readRequestFile(text, path)
      : readCombinedLog(text, path, {
          ...(base === undefined ? {} : { base }),
          ...(sample === undefined ? {} : { sample }),
        })
  })
  const own = requests.length > 0 ? [] : loadOwn(root, config, load)
  const files = [...named, ...own]
  if (files.length === 0) return null
  return {
    files,
    groupBy: options.groupBy ?? 'answers',
    visitor: log === undefined ? 'usual' : 'unknown',
    reveals: verbose === true,
    ...readReadings(options),
  }
}

/**
 * Reads the readings of the options.
 *
 * @throws EdgewiseError `usage` for an answer in another form
 */
export function readReadings({ assume }: Pick<EffectsOptions, 'assume'>): Assumptions {
  return { assume: readAssumptions(assume) }
}

/** Decodes a log, unpacked if it is packed by gzip. Bytes that are not UTF-8 become U+FFFD. */
function decodeLog(bytes: Uint8Array): DecodedText {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
  try {
    const unpacked = isPacked ? gunzipSync(bytes, { maxOutputLength: maxBytes }) : bytes
    return { text: new TextDecoder().decode(unpacked) }
  } catch (error) {
    const isLarge = findCode(error) === 'ERR_BUFFER_TOO_LARGE'
    return { fault: isLarge ? 'it is larger than 256 MB unpacked' : 'its gzip data is damaged' }
  }
}

/** Loads the files that the key `requests` names. */
function loadOwn(
  root: string,
  config: WorkspaceConfig,
  load: (path: string, called: string, hint: string) => string,
): RequestFile[] {
  if (config.requests.length === 0) return []
  const { paths } = findFiles(root, config, ['requests'])
  const hint = 'See "requests" in edgewise.yaml.'
  if (paths.length === 0)
    throw new EdgewiseError('usage', `no file matches ${config.requests.join(', ')}`, hint)
  return paths.map((path) => readRequestFile(load(join(root, path), path, hint), path))
}

/** Refuses options that are only for files that are not given. */
function refuseLonely({ requests, log, base, sample }: EffectsOptions): void {
  const isLog = log !== undefined
  const lonely = [
    ['--log', isLog && requests.length === 0, '--requests FILE'],
    ['--base', base !== undefined && !isLog, '--log combined'],
    ['--sample', sample !== undefined && !isLog, '--log combined'],
  ].find(([, isLonely]) => isLonely === true)
  if (lonely !== undefined)
    throw new EdgewiseError('usage', `${String(lonely[0])} needs ${String(lonely[2])}`)
  if (base !== undefined && !/^https?:\/\/[^/?#]+\/?$/i.test(base))
    throw new EdgewiseError('usage', '--base is an address such as https://www.example.com')
}
