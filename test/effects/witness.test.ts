// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import { compareRequest, type Delta } from '../../src/core/effects/compare.ts'
import { findWitness } from '../../src/core/effects/witness/find-witness.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { BadRequest } from '../../src/core/trace/url.ts'
import { itOften, runs } from '../runs.ts'
import { buildPair } from '../trace/pairs/pair.ts'
import { change, changeCandidates, settle } from './build.ts'
import { confirm } from './confirm.ts'
import { mutate } from './mutate.ts'

/** Deltas `differs` of requests that speak of the same words. */
function findDifference(sides: Parameters<typeof compareRequest>[0], from: number, count: number) {
  const found: Delta[] = []
  for (let seed = from; seed < from + count; seed++) {
    const { request } = buildPair(seed, 'managed')
    const url = String(request['url']).replace(/^(\w+:\/\/)[^/:?#]+/, '$1www.example.com')
    try {
      const { deltas } = compareRequest(sides, { ...request, url }, 'unknown')
      found.push(...deltas.filter(({ verdict }) => verdict === 'differs'))
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
    }
  }
  return found
}

/** Reasons for which no witness can be found. */
const explained = /^(?:undecidable|not-given|never served|more than) /

/** Finds witnesses of random changes; counts what came of them. */
function tryMutations(from: number, count: number, requests: number): Record<string, number> {
  const counts: Record<string, number> = { total: 0, unexplained: 0 }
  for (let seed = from; seed < from + count; seed++) {
    const mutation = mutate(seed)
    if (mutation === null) continue
    const { pair, after } = mutation
    const settings = settle({}, pair.timezone)
    const sides = changeCandidates(pair.items, after, settings, pair.domain)
    const witness = findWitness(sides)
    counts['total'] = (counts['total'] ?? 0) + 1
    counts[witness.kind] = (counts[witness.kind] ?? 0) + 1
    if (witness.kind === 'request') confirm(pair, after, witness)
    if (witness.kind === 'equal')
      expect(findDifference(sides, seed, requests), `${seed} ${witness.proof}`).toEqual([])
    if (witness.kind === 'not-found' && !witness.reasons.some((each) => explained.test(each)))
      counts['unexplained'] = (counts['unexplained'] ?? 0) + 1
  }
  return counts
}

itOften('random changes have a witness that both interpreters confirm, or a true proof', () => {
  const { total = 0, unexplained = 0 } = tryMutations(0, runs(5, 400), runs(2, 300))
  expect(total).toBeGreaterThan(2)
  expect(unexplained).toBeLessThanOrEqual(total * 0.01)
})

const rule = (pattern: string, more: JsonObject = {}) => ({
  match_method: 'ext',
  pattern,
  expire: 60,
  expire_unit: 's',
  case_ignore: 'yes',
  ...more,
})
const list = (...rules: JsonObject[]) => ({
  cache_rule_list: rules.map((each, i) => ({ ...each, priority: i + 1 })),
})
const regex = (pattern: string, more: JsonObject = {}) =>
  rule(pattern, { match_method: 'regex', ...more })
const cached = (type: number, ...patterns: string[]) => ({
  cache_rule: patterns.map((pattern, i) => ({ type, pattern, time: i + 1, timeunit: 's' })),
})
const referer = (...hosts: string[]) => ({ referer: { type: 2, list: hosts, allow_empty: true } })
const agent = (...lines: string[]) => ({
  user_agent: {
    ua_list: lines.join('\n'),
    url_pattern: '.*',
    url_match_type: 'all',
    ua_type: 'black',
    ua_match_type: 'pattern',
    allow_empty_ua: 'yes',
    url_case_insensitive: 'yes',
    ua_case_insensitive: 'yes',
  },
})
const deny = (...urls: string[]) => ({ deny_url: { urls } })

describe('equal is announced, and true', () => {
  it.each<[string, Record<string, Json>, Record<string, Json>]>([
    ['identical', list(rule('jpg')), list(rule('jpg'))],
    ['ineffective', { timeout: { time: '5' } }, { timeout: { time: '05' } }],
    ['ineffective', deny('/a', '/b'), deny('/b', '/a')],
    ['ineffective', cached(1, 'a,b'), cached(1, 'b,a')],
    [
      'ineffective',
      { cache_rule_list: [{ ...rule('jpg'), priority: 1 }] },
      { cache_rule_list: [{ ...rule('jpg'), priority: 5 }] },
    ],
    [
      'ineffective',
      { new_origin: [{ origin: '192.0.2.1' }] },
      { new_origin: [{ origin: '192.0.2.1' }], origin: { default_master: '192.0.2.9' } },
    ],
    [
      'ineffective',
      { ...deny('.'), timeout: { time: '5' } },
      { ...deny('.'), timeout: { time: '6' } },
    ],
    [
      'ineffective',
      { visit_deny_whitelist: null },
      { visit_deny_whitelist: [{ url: '/a', turn_on: true }] },
    ],
    [
      'reordered',
      list(rule('jpg'), rule('png', { expire: 9 })),
      list(rule('png', { expire: 9 }), rule('jpg')),
    ],
    [
      'reordered',
      list(regex('/a/'), regex('^[^/]*//[^/]*/b$', { expire: 9 })),
      list(regex('^[^/]*//[^/]*/b$', { expire: 9 }), regex('/a/')),
    ],
    ['covered', list(rule('jpg,png')), list(rule('jpg,png'), rule('png', { expire: 9 }))],
    [
      'covered',
      list(rule('jpg'), rule('png')),
      list(rule('jpg'), rule('png'), rule('png,jpg', { expire: 9 })),
    ],
    ['covered', cached(2, '/a/'), cached(2, '/a/', '/a/b/')],
    ['covered', referer('*.example.com'), referer('*.example.com', 'a.example.com')],
    [
      'covered',
      { ip_black_list: { list: ['10.0.0.0/8'] } },
      { ip_black_list: { list: ['10.0.0.0/8', '10.1.2.3'] } },
    ],
    ['covered', agent('bot'), agent('bot', 'Bad Bot')],
    ['automaton', deny('/a'), deny('/a', '/a+')],
    ['automaton', list(regex('\\.(jpg|png)$')), list(regex('\\.(?:png|jpg)$'))],
    [
      'automaton',
      { video_drag: { url: '/v', mp4: 'on', flv: 'on', start: 's', end: 'e' } },
      { video_drag: { url: '(/v)', mp4: 'on', flv: 'on', start: 's', end: 'e' } },
    ],
  ])('%s %#', (proof, before, after) => {
    const sides = change(before, after)
    expect(findWitness(sides)).toEqual({ kind: 'equal', proof })
    expect(findDifference(sides, 0, 25)).toEqual([])
  })
})

describe('a witness of the strongest class is found', () => {
  it.each<[string, string, Record<string, Json>, Record<string, Json>]>([
    [
      'visible',
      'https://trusted.com/',
      referer('*.example.com', 'trusted.com'),
      referer('*.example.com'),
    ],
    ['internal', '', { timeout: { time: '30' } }, { timeout: { time: '60' } }],
    [
      'visible',
      '10.0.0.0',
      { ip_black_list: { list: ['10.0.0.0/8'] } },
      { ip_black_list: { list: ['10.128.0.0/9'] } },
    ],
    ['content', '.png', list(rule('jpg,png')), list(rule('jpg'))],
    [
      'content',
      '',
      list(rule('jpg'), rule('jpg,png', { expire: 9 })),
      list(rule('jpg,png', { expire: 9 }), rule('jpg')),
    ],
    ['visible', 'aaaaab', deny('/a{3,5}b'), deny('/a{3,4}b')],
    [
      'content',
      '',
      { source_url_rewrite: [{ origin_url: '/(\\w+)/(\\w+)', target_url: '/$1' }] },
      { source_url_rewrite: [{ origin_url: '/(\\w+)/(\\w+)', target_url: '/$2' }] },
    ],
    [
      'visible',
      '',
      { compress_response: { content_type: ['text/css'], min_size: 1, min_size_unit: 'KB' } },
      { compress_response: { content_type: ['text/css'], min_size: 2, min_size_unit: 'KB' } },
    ],
    [
      'visible',
      '18:0',
      {
        speed_limit: [
          { type: 'all', pattern: '.*', speed: '80', begin_time: '08:00', end_time: '18:00' },
        ],
      },
      {
        speed_limit: [
          { type: 'all', pattern: '.*', speed: '80', begin_time: '08:00', end_time: '18:01' },
        ],
      },
    ],
    ['visible', 'curl', agent('curl'), agent('wget')],
  ])('%s %s', (wanted, text, before, after) => {
    const witness = findWitness(change(before, after))
    expect(witness).toMatchObject({ kind: 'request', class: wanted })
    expect(JSON.stringify(witness)).toContain(text)
    expect(findWitness(change(after, before))).toMatchObject({ kind: 'request', class: wanted })
  })
})

it('an item in doubt beside the one that differs is no proof', () => {
  const denied = [{ urls: ['.'] }]
  const find = (deny_url: Json[]) => {
    const side = (time: string) => ({ https: [{ cert_id: 1 }], deny_url, timeout: [{ time }] })
    return findWitness(changeCandidates(side('5'), side('6'))).kind
  }
  expect(find(denied)).toBe('equal')
  expect(find([...denied, null])).toBe('request')
})

it('patterns and unknown items in the way are named', () => {
  const find = (...sides: Parameters<typeof change>) => findWitness(change(...sides))
  expect(find(deny('/a(?!b)'), deny('/a(?!c)'), settle({ R1: 'core' }))).toMatchObject({
    kind: 'not-found',
    reasons: [
      'never served deny_url',
      'undecidable /a(?!b)',
      'undecidable /a(?!c)',
      'undecidable deny_url/urls/0',
    ],
  })
  const doubt = changeCandidates({ timeout: [{ time: '1' }] }, { timeout: [{ time: '1' }, null] })
  expect(findWitness(doubt)).toEqual({ kind: 'not-found', tried: 0, reasons: ['in-doubt timeout'] })
  const unknown = settle({ unmanaged: 'unknown' })
  const half = changeCandidates({ timeout: [{ time: '1' }] }, {}, unknown)
  expect(findWitness(half)).toEqual({ kind: 'not-found', tried: 0, reasons: ['unmanaged timeout'] })
})
