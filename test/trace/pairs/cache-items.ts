import { pickDefined, type Json, type JsonObject } from '../../../src/core/model/json.ts'
import { distinct, maybe, several, type Draft } from './draft.ts'
import { drawPattern } from './patterns.ts'
import { errorCodes, parameters } from './words.ts'

/** Makers of the items about the cache, in the form of a manifest. */
export const cacheItems: Record<string, (draft: Draft) => Json> = {
  cache_rule: (draft) => several(draft.chance, 1, 5, () => drawCacheRule(draft)),
  cache_rule_list: drawCacheRuleList,
  cache_share: ({ chance }) => {
    const way = chance.pick(['inner_share', 'cross_single_share', 'cross_all_share'])
    const other = () => chance.pick(['a.example.com', 'Z.example.net', 'www.example.com'])
    const isNeeded = way !== 'inner_share' || chance.happens(0.2)
    return pickDefined({ share_way: way, domain: isNeeded ? other() : undefined })
  },
  cache_error_code: (draft) => drawErrorCaching(draft, '5XX', draft.chance.pick([1, 10, 65_535])),
  error_bcache: (draft) => drawErrorCaching(draft, '5xx', draft.chance.pick(['1', '10', '60'])),
}

const switches = ['on', 'off']
const answers = ['yes', 'no']

/** Draws a time of at most two years, with its unit. */
function drawTime({ chance }: Draft): [number, string | undefined] {
  return chance.pick<[number, string | undefined]>([
    [0, undefined],
    [0, 'D'],
    [60, undefined],
    [3600, 's'],
    [9, 's'],
    [30, 'D'],
    [2, 'Y'],
    [24, 'M'],
    [1, 'M'],
    [10, 'i'],
    [6, 'h'],
  ])
}

function drawCacheRule(draft: Draft): JsonObject {
  const { chance } = draft
  const type = chance.pick([1, 1, 2, 3, 4] as const)
  const kinds = { 1: 'ext', 2: 'dir', 3: 'route', 4: 'regex' } as const
  const [time, timeunit] = drawTime(draft)
  const flag = () => maybe(chance, 0.5, () => chance.pick(switches))
  return pickDefined({
    type,
    pattern: drawPattern(draft, kinds[type]),
    time,
    timeunit,
    ignore_no_cache: flag(),
    ignore_expired: flag(),
    ignore_query: flag(),
  })
}

function drawCacheRuleList(draft: Draft): Json {
  const { chance } = draft
  const priorities = chance.pick([[], [3, 1, 2, 9, -1], [1, 2, 3], [5]])
  const unused = [...priorities]
  return several(chance, 1, 5, () => ({
    ...drawNewerRule(draft),
    ...pickDefined({ priority: chance.happens(0.85) ? unused.shift() : undefined }),
  }))
}

function drawNewerRule(draft: Draft): JsonObject {
  const { chance } = draft
  const kind = chance.pick(['ext', 'ext', 'dir', 'route', 'regex'] as const)
  const [expire, expire_unit] = drawTime(draft)
  const flag = (probability: number) => maybe(chance, probability, () => chance.pick(answers))
  return pickDefined({
    match_method: kind,
    pattern: drawPattern(draft, kind),
    case_ignore: flag(0.6),
    expire,
    expire_unit,
    ignore_no_cache_headers: flag(0.5),
    follow_expired: flag(0.5),
    cache_or_not: flag(0.3),
    ...drawQueryOperation(draft),
  })
}

function drawQueryOperation({ chance, clues }: Draft): Record<string, Json | undefined> {
  const operation = chance.pick(['do_nothing', 'cache_back_source_remove', 'customer', 'customer'])
  if (operation === 'do_nothing') return { query_params_op: maybe(chance, 0.5, () => operation) }
  if (operation !== 'customer') return { query_params_op: operation }
  const names = distinct(chance, parameters, 3)
  clues.parameters.push(...names)
  return {
    query_params_op: 'customer',
    query_params_op_way: maybe(chance, 0.92, () => chance.pick(['keep', 'remove'])),
    query_params_op_when: maybe(chance, 0.92, () => chance.pick(['cache', 'cache_back_source'])),
    params: maybe(chance, 0.92, () => names.join(chance.pick([',', ', ']))),
  }
}

function drawErrorCaching({ chance, clues }: Draft, all: string, time: Json): Json {
  const codes = distinct(chance, [...errorCodes, all], 4)
  clues.statuses.push(...codes.map((code) => (code === all ? 504 : Number(code))))
  const isOn = chance.happens(0.75)
  const units = ['year', 'month', 'day', 'hour', 'minute', 'second']
  const unit = time === 1 || time === '1' ? chance.pick(units) : chance.pick(['minute', 'second'])
  return pickDefined({
    code: codes,
    bcache: isOn ? 'on' : 'off',
    cache_time: isOn || chance.happens(0.3) ? time : undefined,
    cache_unit: isOn || chance.happens(0.3) ? unit : undefined,
  })
}
