import type { Domain } from '../../model/item.ts'
import type { JsonObject } from '../../model/json.ts'
import { groupBy } from '../../model/lists.ts'
import { parseRequest, type Headers } from '../../trace/request.ts'
import { BadRequest, parseUrl, type RequestUrl } from '../../trace/url.ts'
import { createDomainFinder } from './find-domain.ts'
import { sampleEvenly } from './parse-log.ts'
import type { CountedRequest } from './parse-requests.ts'

/** A request to send to a domain, by a sample. */
export interface Chosen {
  domain: Domain
  /** The sample as its file has it. */
  request: JsonObject
  url: RequestUrl
  method: 'GET' | 'HEAD'
  headers: Record<string, string>
  /** Number of the request to this domain, from 0. */
  turn: number
}

type Sample = Omit<Chosen, 'turn'>

/** Headers of the connection, which are not those of a sample. */
const ownHeaders = new Set(
  (
    'connection content-length expect host keep-alive proxy-authorization proxy-connection te ' +
    'trailer transfer-encoding upgrade'
  ).split(' '),
)

/**
 * Chooses the requests to send to each domain: `count`, spread evenly over its samples, one for
 * each domain in turn. Samples of other methods than GET and HEAD, of other hosts, and with facts
 * that are invalid or can't be sent are left out, and so are domains without samples.
 */
export function* chooseProbes(
  requests: readonly CountedRequest[],
  domains: readonly Domain[],
  count: number,
): IterableIterator<Chosen> {
  const find = createDomainFinder(domains)
  const samples = requests.flatMap(({ request }) => parseSample(request, find) ?? [])
  const lists = [...groupBy(samples, ({ domain }) => domain).values()].map((list) =>
    sampleEvenly(list, count),
  )
  for (let turn = 0; turn < count; turn++)
    for (const list of lists) {
      const sample = list[turn % list.length]
      if (sample !== undefined) yield { ...sample, turn }
    }
}

function parseSample(request: JsonObject, find: (host: string) => Domain | null): Sample | null {
  try {
    const text = request['url']
    const domain = find(parseUrl(typeof text === 'string' ? text : '', null).host)
    if (domain === null) return null
    const { url, method = 'GET', headers } = parseRequest(request, domain)
    if (method !== 'GET' && method !== 'HEAD') return null
    const sent = listHeaders(headers)
    return sent === null ? null : { domain, request, url, method, headers: sent }
  } catch (error) {
    if (error instanceof BadRequest) return null
    throw error
  }
}

/** Lists the headers to send; null if one has a text that HTTP can't have. */
function listHeaders({ given }: Headers): Record<string, string> | null {
  const all = [...new Map([['user-agent', 'edgewise'], ...given])]
  const sent = all.flatMap(([name, text]): [string, string][] =>
    text === null || ownHeaders.has(name) ? [] : [[name, text]],
  )
  const isLatin = sent.every(([, text]) => /^[\t\x20-\x7e\xa0-\xff]*$/.test(text))
  return isLatin ? Object.fromEntries(sent) : null
}
