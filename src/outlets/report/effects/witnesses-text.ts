import { symbols } from '../../../core/model/change.ts'
import { isObject, type JsonObject } from '../../../core/model/json.ts'
import { listCounts, listSome, mapSome, pluralize } from '../../../core/model/text/words.ts'
import { formatDomainCount, selectColours, type PlanTextOptions } from '../plan/format-block.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { wrap } from '../text/wrap.ts'
import { describeReasons } from '../trace/answers.ts'
import { describeDelta } from './describe-effects.ts'
import type { ChangeWitness, Witnesses } from './witnesses.ts'

/** Why no request shows a change. */
const proofs: Record<string, string> = {
  identical: 'both are the same',
  ineffective: 'what changes is not read',
  reordered: 'only rules that do not overlap change places',
  covered: 'what comes or goes never decides',
  automaton: 'the patterns match the same',
}

/** Most kinds of change without `-v`. */
const maxShown = 20

/**
 * Formats for each kind of change what it does to a request, or that it has no effect. Items of
 * domains of which nothing was recorded are counted only, unless `verbose`.
 */
export function formatWitnesses(
  { changes, omitted }: Witnesses,
  { paint, columns, verbose }: PlanTextOptions,
): string {
  const colours = selectColours(paint)
  const first = verbose ? [] : changes.filter(({ isFirst }) => isFirst)
  const others = verbose ? changes : changes.filter(({ isFirst }) => !isFirst)
  const formatOne = (each: ChangeWitness) => {
    const { item, action, domains } = each
    const symbol = colours[action](symbols[action])
    const title = `${symbol} ${paint.bold(item)}   ${formatDomainCount(domains)}`
    const lines = describeWitness(each).map((text) =>
      wrap(escapeInvisible(text), Math.min(columns, 80), '    '),
    )
    return [title, ...lines].join('\n')
  }
  const countRest = (rest: number) =>
    paint.dim(`… and ${pluralize(rest, 'more kind')} (-v shows all)`)
  return [
    paint.bold('What each change does'),
    ...listCounts([
      [
        first.length,
        'item is set for the first time (-v shows what it does)',
        'items are set for the first time (-v shows what each does)',
      ],
    ]),
    ...mapSome(others, verbose ? Infinity : maxShown, formatOne, countRest),
    ...listCounts([
      [omitted, 'more kind of change not looked at', 'more kinds of change not looked at'],
    ]),
  ].join('\n')
}

/** Describes the request of a witness and what it shows; or that there is none, and why. */
export function describeWitness({ item, witness }: ChangeWitness): string[] {
  if (witness.kind === 'equal')
    return [`no effect under the settled readings: ${proofs[witness.proof] ?? witness.proof}`]
  if (witness.kind === 'not-found') {
    const { tried, reasons } = witness
    const why = describeReasons(reasons) || listSome(reasons) || 'none of them shows a difference'
    return [`no request found in ${pluralize(tried, 'try', 'tries')}: ${why}`]
  }
  const [first, ...others] = witness.deltas.filter((delta) => delta.class === witness.class)
  const more = others.length === 0 ? '' : ` and ${pluralize(others.length, 'more answer')}`
  return [
    describeRequest(witness.request, item),
    ...(first === undefined ? [] : [describeDelta(first) + more]),
  ]
}

/** Facts that a request shows only where one of these items changes. */
const factsOf: [fact: string, words: string, items: string[]][] = [
  ['ip', 'address', ['ip_black_list', 'ip_white_list', 'combined_ban', 'client_real_ip']],
  ['country', 'country', ['visit_areas_limit']],
  ['isp', 'carrier', ['new_origin', 'tos_origin']],
  ['at', 'at', ['visit_timestamp']],
  ['time', 'at', ['speed_limit']],
  ['bodySize', 'bytes sent:', ['post_upload_size_limit']],
]

/** Describes the request, with headers, and with the facts that the changed item reads. */
function describeRequest(request: JsonObject, item: string): string {
  const { url, method, headers } = request
  const given = Object.entries(isObject(headers) ? headers : {}).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${String(value)}`],
  )
  const facts = factsOf.flatMap(([name, words, items]) =>
    items.includes(item) && request[name] !== undefined
      ? [`${words} ${String(request[name])}`]
      : [],
  )
  return [`${String(method ?? 'GET')} ${String(url)}`, ...facts, ...given].join(', ')
}
