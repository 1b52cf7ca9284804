import type { Page } from '../../src/core/model/page/page.ts'
import {
  buildHistoryPage,
  type PageHistory,
} from '../../src/outlets/report/page/build-history-page.ts'
import { Draws } from '../health/draws.ts'
import { buildAbout } from '../report/page/build-page.ts'
import { nameDomain } from './pages.ts'

type Entry = PageHistory['applies'][number]
type Items = NonNullable<Entry['changes']> extends ReadonlyMap<string, infer Own> ? Own : never
type Change = Items extends ReadonlyMap<string, infer One> ? One : never

const hourMs = 3_600_000
const authors = ['ann', 'bo', 'ci-bot']

/** Builds the history of a fleet; every 9th apply is incomplete, every 31st was interrupted. */
export function buildHistory(applies: number, domainsPerApply: number, domains = 200): PageHistory {
  const draws = new Draws(applies)
  const end = Date.UTC(2026, 10, 21, 16, 29)
  const all = Array.from({ length: applies }, (_, i): Entry => {
    const at = end - (applies - 1 - i) * 7 * hourMs
    const outcome = i % 31 === 20 ? 'interrupted' : i % 9 === 4 ? 'incomplete' : 'complete'
    const refused = outcome === 'incomplete' ? 1 : 0
    const items = i % 3 === 0 ? ['timeout', 'connect_timeout'] : ['timeout']
    const seconds = 10 + Math.floor(draws.next() * 50)
    const changes = Array.from(
      { length: domainsPerApply },
      (_entry, k) =>
        [
          nameDomain((i * 7 + k) % domains),
          new Map(
            items.map((item) => [
              item,
              {
                before: { status: 'confirmed', candidates: [{ time: `${seconds + (k % 4)}` }] },
                after: [{ time: `${seconds + 60}` }],
                outcome: refused === 1 && k === 0 ? 'unchanged' : 'confirmed',
              } satisfies Change,
            ]),
          ),
        ] as const,
    )
    const parts = domainsPerApply * items.length
    const startedAt = new Date(at).toISOString()
    const wave = i % 10 >= 7 ? `-w${(i % 10) - 6}` : ''
    const first = wave === '' ? i : i - (i % 10) + 7
    const day = new Date(end - (applies - 1 - first) * 7 * hourMs).toISOString()
    return {
      apply: {
        id: `${day.slice(0, 19).replaceAll(/[-:]/g, '')}Z-${(4096 + first).toString(16)}${wave}`,
        startedAt,
        endedAt:
          outcome === 'interrupted' ? null : new Date(at + 1000 * (4 + (i % 90))).toISOString(),
        commit: (0x4f0c2d9 + i).toString(16).padEnd(40, '0'),
        author: authors[i % 3] ?? null,
        writes: { confirmed: 3 - refused, refused, inDoubt: 0, notSent: 0 },
        parts: { confirmed: parts - refused, refused, inDoubt: 0, notSent: 0 },
        outcome,
        ...(i < applies / 10 ? { pruned: true as const } : {}),
      },
      changes: i < applies / 10 ? null : new Map(changes),
    }
  })
  return { applies: all, dropped: 0, domain: null }
}

/** Builds the page of such a history. */
export function buildHistoryModel(applies: number, perApply: number, domains?: number): Page {
  return buildHistoryPage(buildHistory(applies, perApply, domains), buildAbout())
}

/** Builds a page all of whose texts are hostile. */
export function buildHostileHistory(attacks: string[]): Page {
  const { applies, ...rest } = buildHistory(attacks.length, 1)
  const hostile = applies.map(({ apply }, i): Entry => {
    delete apply.pruned
    const text = attacks[i] ?? ''
    const change: Change = {
      before: { status: 'confirmed', candidates: [text] },
      after: [`${text}!`],
      outcome: 'confirmed',
    }
    return {
      apply: { ...apply, id: `${text} ${i}`, author: text, commit: text },
      changes: new Map([[`${text} ${i}`, new Map([[text, change]])]]),
    }
  })
  return buildHistoryPage({ applies: hostile, ...rest }, buildAbout())
}
