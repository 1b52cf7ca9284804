import { resolve } from 'node:path'
import { parseEntries } from '../../manifest/requests/request-file.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import {
  formatJson,
  isObject,
  parseJson,
  pickDefined,
  type Json,
  type JsonObject,
} from '../../core/model/json.ts'
import { parseHeaderLines } from '../../core/trace/header-lines.ts'
import type { Visitor } from '../../core/trace/request.ts'
import { traceRequests, type TraceOptions } from '../../operations/trace.ts'
import { formatTrace, formatTracePanel } from '../../outlets/report/trace/text.ts'
import { plainPaint } from '../../outlets/report/text/paint.ts'
import { parseJsonTexts } from '../../core/model/text/json-scan.ts'
import { readAssumptions } from './assumptions.ts'
import type { CommandContext } from '../io.ts'
import { loadFile } from '../load-file.ts'
import { findCheckout } from '../../state/git/find-repository.ts'
import { loadSources } from '../load-sources.ts'
import { openWorkspace, refuseInvalidManifests } from '../open.ts'

/** Options of `edgewise trace`, as the command line has them. */
export interface TraceCommandOptions {
  requests?: string
  of: string
  observed?: string
  assume?: string[]
  vary?: boolean
  /** Write the panel of a page for `edgewise serve`. */
  served?: boolean
  visitor: Visitor
  method?: string
  /** Headers, and the names of absent ones. */
  header?: string[]
  referer?: string
  userAgent?: string
  ip?: string
  country?: string
  isp?: string
  at?: string
  time?: string
  bodySize?: number
  signature?: string
  originStatus?: number
  originHeader?: string[]
  originSize?: number
}

/** `edgewise trace`: shows what a configuration does to requests. */
export async function trace(
  context: CommandContext,
  [urls]: unknown[],
  options: TraceCommandOptions,
): Promise<void> {
  const { io, layout } = context
  const facts = readFacts(options)
  const found = await listRequests(context, urls as string[], options)
  const of = readSource(context, options)
  const workspace = openWorkspace(context, 'none')
  const { vary: varies = false, served: isPanel = false } = options
  const isText = isPanel || context.options.json !== true
  if (of === 'desired') refuseInvalidManifests(context, workspace)
  const traced = await traceRequests(
    workspace,
    {
      requests: found.map(({ request }) => addFacts(request, facts)),
      places: found.map(({ place }) => place),
      of,
      visitor: options.visitor,
      // A text names what is assumed only where it changes what is shown.
      varies: varies || (isText && found.length === 1),
      assume: readAssumptions(options.assume ?? []),
    },
    io,
  )
  if (isPanel)
    for (const each of traced)
      io.out(formatTracePanel(each, { paint: plainPaint, columns: 76, verbose: false }))
  else
    io.out(
      isText
        ? `${traced.map((each) => formatTrace(each, { ...layout, varies })).join('\n\n')}\n`
        : traced.map(({ output }) => formatJson(output)).join(''),
    )
}

/** A request, and its place in a file; null on the command line. */
interface Placed {
  request: JsonObject
  place: string | null
}

/** Lists the requests of the command line, of a file and of stdin, in this order. */
async function listRequests(
  context: CommandContext,
  urls: string[],
  { requests: file }: TraceCommandOptions,
): Promise<Placed[]> {
  const given = urls
    .filter((url) => url !== '-')
    .map((url): Placed => ({ request: { url }, place: null }))
  const loaded = file === undefined || file === '-' ? [] : parseRequests(load(context, file), file)
  const fromInput =
    urls.includes('-') || file === '-' ? parseRequests(await readInput(context), '(stdin)') : []
  const all = [...given, ...loaded, ...fromInput]
  if (all.length > 0) return all
  throw new EdgewiseError(
    'usage',
    'there is no request to trace',
    'Pass a URL such as https://www.example.com/, or a file with --requests.',
  )
}

async function readInput({ io }: CommandContext): Promise<string> {
  const hint = 'Pipe requests in, one a line, or pass a file with --requests.'
  if (io.openStdin === null)
    throw new EdgewiseError('usage', '"-" is stdin, and stdin is a terminal', hint)
  const [source] = await loadSources(['-'], io.cwd, io)
  if (source === undefined || 'fault' in source)
    throw new EdgewiseError('usage', `stdin: ${source?.fault ?? 'no input'}`)
  return source.text
}

/**
 * Parses requests of a file, in their order; counts are not used.
 *
 * @throws EdgewiseError `usage` if an entry is no request, or there is none
 */
function parseRequests(text: string, called: string): Placed[] {
  const requests = parseEntries(text, called).map((entry) => {
    if ('request' in entry) return entry
    throw new EdgewiseError('usage', `${entry.place}: ${entry.fault}`)
  })
  if (requests.length > 0) return requests
  throw new EdgewiseError('usage', `${called} has no request`, 'Write a URL on each line.')
}

function addFacts(request: JsonObject, facts: JsonObject): JsonObject {
  const merge = (name: string): JsonObject => {
    const [own, given] = [request[name], facts[name]]
    return isObject(own) && isObject(given) ? { [name]: { ...given, ...own } } : {}
  }
  return { ...facts, ...request, ...merge('headers'), ...merge('origin') }
}

function readFacts(options: TraceCommandOptions): JsonObject {
  const { header = [], referer, userAgent, originHeader = [] } = options
  const headers = [
    ...header,
    ...(referer === undefined ? [] : [`referer: ${referer}`]),
    ...(userAgent === undefined ? [] : [`user-agent: ${userAgent}`]),
  ]
  const origin = {
    ...pickDefined({ status: options.originStatus, size: options.originSize }),
    ...nameHeaders(originHeader),
  }
  const { method, ip, country, isp, at, time, signature, bodySize } = options
  return {
    ...pickDefined({ method, ip, country, isp, at, time, signature, bodySize }),
    ...nameHeaders(headers),
    ...(Object.keys(origin).length === 0 ? {} : { origin }),
  }
}

/** Builds the fact of headers. */
function nameHeaders(headers: string[]): JsonObject {
  const given = parseHeaderLines(headers)
  return Object.keys(given).length === 0 ? {} : { headers: given }
}

function readSource(
  context: CommandContext,
  { of, observed }: TraceCommandOptions,
): NonNullable<TraceOptions['of']> {
  if (of === 'observed') {
    if (observed === undefined)
      throw new EdgewiseError('usage', '--of observed needs --observed FILE')
    return { observed: loadJson(context, observed, (text) => parseJsonTexts(text).data) }
  }
  if (observed !== undefined)
    throw new EdgewiseError('usage', '--observed is only for --of observed')
  if (of === 'desired' || of === 'recorded') return of
  return { configuration: loadJson(context, of) }
}

/** Loads a file that the user names; one in the checkout must not lead out of it. */
function load({ io }: CommandContext, path: string): string {
  return loadFile(resolve(io.cwd, path), path, '', findCheckout(io.cwd))
}

function loadJson(context: CommandContext, path: string, parse = parseJson): Json {
  const value = parse(load(context, path))
  if (value === undefined) throw new EdgewiseError('usage', `${path} is not JSON`)
  return value
}
