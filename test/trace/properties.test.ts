// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { Unknown } from '../../src/core/trace/answer.ts'
import { readings } from '../../src/core/trace/readings.ts'
import { completeFacts, parseRequest, readHeader } from '../../src/core/trace/request.ts'
import { buildSettings, listOthers } from '../../src/core/trace/settings.ts'
import type { Reply } from '../../src/core/trace/reply.ts'
import { askReplies, type Trace } from '../../src/core/trace/trace.ts'
import { BadRequest } from '../../src/core/trace/url.ts'
import type { Chance } from '../simulation/chance.ts'
import { itOften, runs } from '../runs.ts'
import {
  compareTexts,
  compilePair,
  holdFor,
  readValue,
  tracePair,
  write,
  writeTrace,
} from './for-pairs.ts'
import { changeValues, shuffle } from './pairs/change-rules.ts'
import { learnAll, listSteps } from './pairs/more-known.ts'
import type { Pair } from './pairs/pair.ts'

const kinds = ['managed', 'mixed'] as const

describe('equal input gives equal output', () => {
  itOften('whatever the order of keys and candidates', () =>
    holdFor('mixed', runs(12, 2_000), (pair, chance) => {
      const headers = { 'X-Twice': 'b', 'x-twice': 'a', ...readHeaders(pair.request) }
      const before = { ...pair, request: { ...pair.request, headers } }
      const { items, ...rest } = shuffleKeys(before, chance) as unknown as Pair
      const mixed = Object.entries(items).map(([name, list]) => [name, shuffle(list, chance)])
      const after = { ...rest, items: Object.fromEntries(mixed) as Pair['items'] }
      return compareTexts(JSON.stringify(writeTrace(before)), JSON.stringify(writeTrace(after)))
    }),
  )

  it('whatever the order of keys in equal candidates', () => {
    const rule = { regex: '(?=a)', head_op: 'DEL', head_direction: 'CLI_REP', head: 'x', order: 1 }
    const turned = Object.fromEntries(Object.entries(rule).toReversed())
    const pair = nameAll('harmless')
    const traceRules = (...rules: JsonObject[]) => {
      const head_control = rules.map((each) => ({ list: [each] }))
      return JSON.stringify(writeTrace({ ...pair, items: { ...pair.items, head_control } }))
    }
    expect(traceRules(rule, turned)).toBe(traceRules(rule, rule))
  })

  itOften('whatever the spelling of facts', () =>
    holdFor('mixed', runs(12, 2_000), (pair, chance) => {
      const after = { ...pair, request: respell(pair.request, chance) }
      return compareTexts(JSON.stringify(writeTrace(pair)), JSON.stringify(writeTrace(after)))
    }),
  )
})

function shuffleKeys(value: unknown, chance: Chance): Json {
  if (Array.isArray(value)) return value.map((each) => shuffleKeys(each, chance))
  if (typeof value !== 'object' || value === null) return value as Json
  const entries = shuffle(Object.entries(value), chance)
  return Object.fromEntries(entries.map(([key, each]) => [key, shuffleKeys(each, chance)]))
}

function readHeaders({ headers = null }: JsonObject): JsonObject {
  return isObject(headers) ? headers : {}
}

/** Writes the facts of a request in another way that means the same. */
function respell(request: JsonObject, chance: Chance): JsonObject {
  const { url = '', method, ip, at } = request
  const names = Object.entries(readHeaders(request)).map(([name, text]) => [
    chance.happens(0.5) ? name.toUpperCase() : name,
    text,
  ])
  const time = typeof at === 'number' ? new Date(at * 1000 + 7_200_000).toISOString() : ''
  return {
    ...request,
    url: respellUrl(String(url), chance),
    ...(typeof method === 'string' ? { method: method.toLowerCase() } : {}),
    ...(typeof ip === 'string' ? { ip: ip.includes(':') ? ip.toUpperCase() : `::FFFF:${ip}` } : {}),
    ...(typeof at === 'number' ? { at: time.replace('.000Z', '.7+02:00') } : {}),
    ...(names.length > 0 ? { headers: Object.fromEntries(names) as JsonObject } : {}),
  }
}

/** Changes case and dot of the host, the explicit default port, and the fragment. */
function respellUrl(url: string, chance: Chance): string {
  const [, scheme = '', host = '', port = '', rest = ''] =
    /^(https?):\/\/([^/?#:]+)(:\d+)?([^#]*)/i.exec(url) ?? []
  const usual = scheme.toLowerCase() === 'http' ? ':80' : ':443'
  const name = host.replace(/\.$/, chance.pick(['', '.']))
  return [
    `${chance.pick([scheme.toUpperCase(), scheme.toLowerCase()])}://`,
    chance.pick([name.toUpperCase(), name.endsWith('.') ? name : `${name}.`]),
    port === '' || port === usual ? chance.pick(['', usual]) : port,
    rest,
    chance.pick(['', '#', '#a?b#c']),
  ].join('')
}

describe('more facts, candidates or items', () => {
  itOften('of which one is known keep every value', () =>
    holdFor('mixed', runs(12, 2_000), (pair, chance) => {
      const before = tracePair(pair)
      const steps = listSteps(pair, chance, listReasons(before))
      return steps.length === 0 ? null : keepsValues(before, chance.pick(steps)(pair))
    }),
  )

  itOften('give the values that are decided, whatever they are', () =>
    holdFor('mixed', runs(12, 2_000), (pair, chance) => {
      const before = tracePair(pair)
      return keepsValues(before, learnAll(pair, chance, listReasons(before)))
    }),
  )
})

describe.each(kinds)('%s items', (kind) => {
  itOften('an outcome has its cause', () =>
    holdFor(kind, runs(10, 2_000), (pair) => {
      const { replies, facts } = tracePair(pair)
      const outcome = readValue(replies, 'outcome')
      const denies = [...replies].some(
        ([name]) => name.startsWith('checks.') && readValue(replies, name) === 'deny',
      )
      const { scheme } = facts.url
      const hasStatus = readValue(replies, 'redirect.status') !== null
      const isPlausible: Record<string, boolean> = {
        denied: denies,
        redirect: scheme === 'http' && hasStatus,
        refused: scheme === 'https',
        served: !denies,
      }
      return isPlausible[String(outcome)] === false ? `${String(outcome)} ${scheme}` : null
    }),
  )
})

/** Reasons are sorted, and there is one. */
function isReasoned(reasons: string[]): boolean {
  return reasons.length > 0 && write([...new Set(reasons)].toSorted()) === write(reasons)
}

function listReasons({ replies }: Trace): string[] {
  return [...replies.values()].flatMap((reply) => ('unknown' in reply ? reply.unknown : []))
}

/** Finds a value that is another one, or not known, in the trace of a pair. */
function keepsValues(before: Trace, pair: Pair): string | null {
  const after = tracePair(pair)
  for (const [name, reply] of before.replies) {
    if ('unknown' in reply && !isReasoned(reply.unknown)) return `${name} ${write(reply)}`
    if (!('value' in reply)) continue
    const now = after.replies.get(name) ?? readUntouched(name, pair)
    if (!('value' in now) || write(now.value) !== write(reply.value))
      return `${name} ${write(reply)} became ${write(now)} in ${JSON.stringify(pair)}`
  }
  return null
}

/** A header that no operation names any more is that of the message. */
function readUntouched(place: string, { request, domain, visitor }: Pair): Reply {
  const [stage, , name = ''] = place.split('.')
  const { headers, origin } = completeFacts(parseRequest(request, domain), visitor)
  const text = readHeader(stage === 'origin' ? headers : origin.headers, name)
  if (text instanceof Unknown) return { unknown: [...text.reasons] }
  return { value: text === null ? null : [text] }
}

describe('what is assumed', () => {
  itOften('changes an answer if it is another one, and nothing else does', () =>
    holdFor('mixed', runs(25, 2_000), (pair, chance) => {
      const { replies, assumed } = tracePair(pair, true)
      const own = Object.keys(pair.assume)
      const names = readings.map(({ name }) => name).filter((name) => !own.includes(name))
      const found = names.filter((each) => Object.hasOwn(assumed ?? {}, each))
      if (names.length === 0) return null
      const name = chance.pick(chance.happens(0.5) && found.length > 0 ? found : names)
      const changes = listAnswers(name).some((answer) => {
        const other = traceOther({ ...pair, assume: { ...pair.assume, [name]: answer } })
        return other !== null && isChanged(pair, replies, other.replies)
      })
      return changes === found.includes(name) ? null : `${name} in ${write(assumed)}`
    }),
  )

  itOften('is nothing that the operator has set', () =>
    holdFor('mixed', runs(12, 2_000), (pair, chance) => {
      const names = readings.filter(() => chance.happens(0.9)).map(({ name }) => name)
      const answers = names.map((name) => [name, chance.pick(listAnswers(name))])
      const assume: JsonObject = { ...Object.fromEntries(answers), ...pair.assume }
      const { assumed } = tracePair({ ...pair, assume }, true)
      const both = Object.keys(assumed ?? {}).filter((name) => Object.hasOwn(assume, name))
      return both.length === 0 ? null : write(both)
    }),
  )
})

/** Tests whether answers differ, also about headers that only one trace names. */
function isChanged(pair: Pair, before: Trace['replies'], after: Trace['replies']): boolean {
  const read = (replies: Trace['replies'], name: string) =>
    write(replies.get(name) ?? readUntouched(name, pair))
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].some((name) => read(before, name) !== read(after, name))
}

itOften('answers that are asked for alone are those of the whole trace', () =>
  holdFor('mixed', runs(12, 2_000), (pair, chance) => {
    const { replies } = tracePair(pair)
    const names = shuffle([...replies.keys()], chance).slice(0, 5)
    const asked = names.map((path) => {
      const [stage, isHeader, ...rest] = path.split('.')
      const message = stage === 'origin' ? ('request' as const) : ('response' as const)
      return { path, header: isHeader === 'headers' ? { message, name: rest.join('.') } : null }
    })
    const alone = askReplies(compilePair(pair), pair.request, asked, pair.visitor)
    return compareTexts(write(names.map((name) => replies.get(name) ?? null)), write(alone))
  }),
)

/** The answers of a reading, those of a kind by examples; the usual one first. */
function listAnswers(name: string): Json[] {
  const number = Number(name.slice(1))
  const usual = buildSettings().answers[number] ?? null
  return [usual, ...listOthers(number, usual)]
}

/** The trace of a pair; null where its facts contradict an answer. */
function traceOther(pair: Pair): Trace | null {
  try {
    return tracePair(pair)
  } catch (error) {
    if (error instanceof BadRequest) return null
    throw error
  }
}

/** Texts that are odd as a pattern, a list, a name, or a part of a request. */
const oddTexts = [
  ...String.raw`,, * ^ $ .* % %zz %00 %2e%2e/.. ? &&== :// :: é 😀 $1$99 0 -1 1e999 *. [ (`.split(
    ' ',
  ),
  ...String.raw`(?=a) (a*)*$ (a|aa)+! (?<=a)b (.)\1 [^] \u{1} x{1001} (x{40}){40} __proto__`.split(
    ' ',
  ),
  '',
  ' ',
  '*a'.repeat(50),
  'a'.repeat(2_000),
  '/..'.repeat(500),
  '(a|'.repeat(90) + ')'.repeat(90),
]

itOften('no valid configuration and request makes a trace fail', () =>
  holdFor('mixed', runs(10, 2_000), (pair, chance) => {
    const items = changeValues(pair.items, (name, value) => {
      const odd = replaceText(value, chance)
      return parseItem(getItemSpec(name), odd, 'manifest').value ?? value
    })
    const { url = '', headers: _, signature: __, ...facts } = pair.request
    const path = chance.pick(oddTexts).replaceAll('\\', '')
    const headers = replaceText(readHeaders(pair.request), chance)
    const [, start = '', rest = '/'] = /^([^/]*\/\/[^/?#]*)([^#]+)?/.exec(String(url)) ?? []
    const request = { ...facts, url: start + rest + path, headers }
    try {
      tracePair({ ...pair, items, request }, chance.happens(0.1))
      return null
    } catch (error) {
      return `${String(error)} of ${JSON.stringify({ items, request })}`
    }
  }),
)

/** Replaces one of the texts in a value by an odd one. */
function replaceText(value: Json, chance: Chance): Json {
  let count = 0
  JSON.stringify(value, (_, each: Json) => (typeof each === 'string' && count++, each))
  let rest = chance.between(0, count)
  const odd = chance.pick(oddTexts)
  const text = JSON.stringify(value, (_, each: Json) =>
    typeof each === 'string' && rest-- === 0 ? odd : each,
  )
  return JSON.parse(text) as Json
}

describe('a name that nothing has', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('is not %s', (name) => {
    const [odd, harmless] = [name, 'harmless'].map((each) => {
      const text = JSON.stringify(writeTrace(nameAll(each)))
      return write(JSON.parse(text.replaceAll(new RegExp(each, 'gi'), 'harmless')))
    })
    expect(odd).toBe(harmless)
  })
})

/** A request that has this name everywhere, and a configuration of other names. */
function nameAll(name: string): Pair {
  const text = JSON.stringify({
    url: 'https://www.example.com/NAME.NAME?NAME=NAME',
    method: 'NAME',
    headers: { NAME: 'NAME', referer: 'https://NAME/', 'accept-encoding': 'NAME', '*': null },
    secrets: { NAME: 'NAME' },
    origin: { status: 404, headers: { NAME: 'NAME', 'content-type': 'NAME', '*': null } },
  })
  const request = JSON.parse(text.replaceAll('NAME', name)) as Pair['request']
  const known: Pair['items'] = {
    origin: [{ default_master: '192.0.2.10' }],
    https: [{ cert_id: 1 }],
    visit_areas_limit: [{ limit_type: 'black', country_list: 'china' }],
    cache_error_code: [{ code: ['500'], bcache: 'on', cache_time: 1, cache_unit: 'minute' }],
    add_response_head: [{ list: [{ name: 'X-A', value: 'a' }] }],
    compress_response: [{ content_type: ['text/html'], min_size: 1, min_size_unit: 'KB' }],
  }
  const absent = Object.fromEntries([...catalogue.keys()].map((item) => [item, [null]]))
  return {
    domain: 'www.example.com',
    items: { ...absent, ...known },
    request: { ...request, country: name.toLowerCase() },
    assume: {},
    visitor: 'unknown',
  }
}
