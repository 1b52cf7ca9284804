import type {
  Page,
  PageNotice,
  PageChange,
  PageLine,
  PagePart,
  PageWrite,
} from '../../src/core/model/page/page.ts'
import { beginPage } from '../../src/outlets/report/page/page-about.ts'
import { Draws } from '../health/draws.ts'
import { buildWave } from '../page/build-page.ts'
import { buildAbout } from '../report/page/build-page.ts'

const callsPerMinute = 20
const itemNames = [
  'https',
  'cache_rule_list',
  'origin',
  'origin_host',
  'compress_response',
  'add_response_head',
  'ip_black_list',
  'referer',
  'rate_limit',
  'range_back_source',
  'timeout',
  'user_agent',
]
const brands = ['shop', 'media', 'api', 'static', 'login', 'events', 'maps', 'downloads']
const regions = ['de', 'fr', 'jp', 'us', 'br', 'in', 'za', 'au', 'kr', 'it']

/** Builds the name of a domain of a fleet; 15 to 40 characters, as real ones have. */
export function nameDomain(i: number): string {
  const brand = brands[Math.floor(i / 10) % brands.length]
  const number = Math.floor(i / 80) + 1
  const stage = i % 17 === 0 ? 'canary-with-a-long-name.' : ''
  return `${stage}${brand}-${number}.${regions[i % 10]}.example.com`
}

/** Builds a page of a plan that sets one item of one domain. */
export function buildSmallPage(): Page {
  return {
    ...frame('1 change on 1 domain: 1 write, about 3 s.'),
    domains: ['www.example.com'],
    items: ['https'],
    parts: [part(0, 'change', [line('unset', 'http2: off'), line('set', 'http2: on')])],
    changes: [change(0, 0, [0])],
    writes: [{ ...write(0, [0], [0]), seconds: 0 }],
    waves: [buildWave(1)],
  }
}

/** Builds a page of 12 domains in 3 waves, with pauses, an approval, and all that stands apart. */
export function buildWavesPage(): Page {
  const page = buildFleetPage(12, 3)
  const [, second, third] = page.waves
  if (!second?.times || !third?.times) throw new Error('the page has 3 waves')
  second.times.waitSeconds = 600
  third.approval = 'needs approval'
  Object.assign(third.times, { waitSeconds: 3600, from: 609, to: third.times.to + 597 })
  for (const each of page.writes) if (each.wave === 3) each.seconds += 597
  const released = page.parts.push(part(3, 'release', [line(null, 'origin.example.net', true)]))
  page.changes.push({ ...change(11, released - 1, []), place: null })
  return { ...page, notices: apart(page.domains), warnings: [...warnings] }
}

/**
 * Builds a page of a fleet: `perWrite` neighbours are written at once, every third time 1 item of
 * them, else 2. 3,000 domains have 5,000 changes.
 */
export function buildFleetPage(domains: number, waves: number, perWrite = 10): Page {
  const draws = new Draws(domains)
  const page: Page = {
    ...frame(''),
    domains: Array.from({ length: domains }, (_, i) => nameDomain(i)),
    items: itemNames,
  }
  const size = Math.min(perWrite, Math.ceil(domains / waves / 2))
  for (let from = 0; from < domains; from += size) addWrites(page, from, size, waves, draws)
  page.waves = Array.from({ length: waves }, (_, i) => summarize(page, i + 1))
  page.sentence =
    `${page.changes.length} changes on ${domains} domains: ${page.writes.length} writes in ` +
    `${waves} waves, at least ${page.writes.length * 3} s.`
  return page
}

/** Adds the writes of some neighbours and their changes; every fifth list needs two writes. */
function addWrites(page: Page, from: number, size: number, waves: number, draws: Draws): void {
  const all = page.domains.length
  const count = Math.ceil(from / size)
  const domains = Array.from({ length: Math.min(size, all - from) }, (_, i) => from + i)
  const first = Math.floor(draws.next() * 12)
  const items = count % 3 === 0 ? [first] : [first, (first + 1 + (count % 4)) % 12]
  const wave = Math.min(waves, Math.floor((from / all) * waves) + 1)
  const at = page.writes.length
  const twice = count % 5 === 4
  page.writes.push({ ...write(at, domains, items), wave })
  if (twice) page.writes.push({ ...write(at + 1, domains, items.slice(0, 1), 'append'), wave })
  for (const item of items) {
    const made = twice && item === items[0] ? [at, at + 1] : [at]
    const parts = page.parts.push(partOf(item, count, draws))
    for (const domain of domains) page.changes.push(change(domain, parts - 1, made))
  }
}

function partOf(item: number, count: number, draws: Draws): PagePart {
  const action = (['change', 'set', 'change', 'unset'] as const)[count % 4] ?? 'set'
  const value = Math.floor(draws.next() * 9000)
  const lines = [
    line(null, 'rules:', true),
    line(null, 'path: /assets/*', false, 1),
    ...(action === 'set' ? [] : [line('unset', `seconds: ${value}`, false, 1)]),
    ...(action === 'unset' ? [] : [line('set', `seconds: ${value + 60}`, false, 1)]),
  ]
  return part(item, action, lines)
}

/** Builds a page all of whose texts are hostile, each with its own `marker`. */
export function buildHostilePage(attacks: string[]): Page {
  const all = attacks.length
  const facts = attacks.map((text): [string, string] => [text, text])
  const about = buildAbout({ facts, warnings: attacks, callsPerMinute })
  return {
    ...beginPage(attacks.join(' '), attacks[0] ?? '', about),
    domains: attacks,
    items: attacks,
    parts: attacks.map((text, i) => ({
      ...part(i, 'change', [line('unset', text), line('set', text), line(null, text, true)]),
      note: text,
    })),
    changes: attacks.map((text, i) => ({ ...change(i, i, [i]), place: text, state: text })),
    writes: attacks.map((_, i) => write(i, [i], [i])),
    waves: [buildWave(1, { domains: all })],
    notices: attacks.map((text) => ({ kind: 'on-hold', text, domains: [text] })),
  }
}

function frame(sentence: string): Page {
  return {
    format: 'edgewise.page/1',
    title: 'Plan of the workspace storefront',
    sentence,
    facts: [
      ['Workspace', 'storefront'],
      ['Commit', '4f0c2d9'],
    ],
    domains: [],
    items: [],
    parts: [],
    changes: [],
    writes: [],
    waves: [],
    callsPerMinute,
    notices: [],
    warnings: [],
  }
}

function part(item: number, action: PagePart['action'], lines: PageLine[]): PagePart {
  return { item, action, note: '', isDestructive: action === 'unset', lines }
}

function line(action: PageLine['action'], text: string, isRemark = false, indent = 0): PageLine {
  return { action, indent, text, isRemark }
}

function change(domain: number, at: number, writes: number[]): PageChange {
  return { domain, part: at, writes, place: `domains/fleet.yaml:${domain + 3}`, state: null }
}

function write(
  at: number,
  domains: number[],
  items: number[],
  form: PageWrite['items'][number]['form'] = 'replace',
): PageWrite {
  const seconds = (at * 60) / callsPerMinute
  return { id: at + 1, wave: 1, domains, items: items.map((item) => ({ item, form })), seconds }
}

function summarize(page: Page, wave: number): Page['waves'][number] {
  const writes = page.writes.filter((each) => each.wave === wave)
  const [from, to] = [writes[0]?.seconds ?? 0, writes.at(-1)?.seconds ?? 0]
  return buildWave(wave, {
    domains: new Set(writes.flatMap((each) => each.domains)).size,
    times: { writes: writes.length, from, to, waitSeconds: 0 },
  })
}

export const warnings = [
  'The secret "origin-token" has no value here, so 2 writes are conditional.',
  'domains/fleet.yaml:9 overrides the default of "timeout".',
]

function apart(domains: string[]): PageNotice[] {
  const [first = '', second = ''] = domains
  return [
    { kind: 'on-hold', text: `${first} is on hold since 12 May.`, domains: [first] },
    { kind: 'unmanaged', text: '2 domains are not managed.', domains: ['old.example.com'] },
    { kind: 'released', text: 'origin stays as it is; nobody manages it.', domains: [second] },
    { kind: 'no-way-back', text: 'No rollback restores referer.', domains: [first, second] },
  ]
}
