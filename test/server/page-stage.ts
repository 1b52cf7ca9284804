import { parseDomainPages, type DomainPages } from '../../src/server/pages/domain-pages.ts'
import type { ListedState, OpenRollout, Overview } from '../../src/core/model/listed-rollout.ts'
import type { Judged, Rollout } from '../../src/core/model/rollout.ts'
import { formatPage } from '../../src/outlets/report/page/format-page.ts'
import { identifyStep } from '../../src/engine/rollout/approvals.ts'
import { listRollout } from '../../src/engine/rollout/decide.ts'
import type { BuiltPage } from '../../src/server/pages/built-page.ts'
import type { PageSource } from '../../src/server/pages/create-page-source.ts'
import { buildWavesPage } from '../browser/pages.ts'
import { buildStatistics } from '../health/statistics.ts'

const at = '2026-01-02T03:00:00.000Z'
export const headCommit = '4f0c2d9a1b7e3c5d8f60718293a4b5c6d7e8f901'

const judged: Judged = {
  type: 'wave.judged',
  wave: 1,
  verdict: 'same-or-better',
  reason: null,
  before: { requests: 8200, bad: 33 },
  after: { requests: 8100, bad: 30 },
  worse: [],
  statistics: buildStatistics(),
}

/** Builds a rollout of three waves; the first has passed, the second one waits for approval. */
export function buildRollout(own: Partial<Rollout> = {}): Rollout {
  const sent = { from: at, to: at, serviceFrom: at, serviceTo: at }
  const name = (i: number) => `shop-${i}.example.com`
  const range = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => name(from + i))
  return {
    id: 'r1',
    startedAt: at,
    commit: headCommit,
    author: 'ada@ci',
    state: 'open',
    reason: null,
    items: [],
    desiredHashes: Object.fromEntries(range(0, 31).map((each) => [each, `sha256:${each}`])),
    endedAt: null,
    values: Object.fromEntries(range(0, 31).map((each) => [each, { https: 'h' }])),
    onHold: {},
    waves: [
      { domains: range(0, 1), applied: sent, passed: true, judged },
      {
        domains: range(1, 6),
        applied: null,
        passed: false,
        approval: { waitingSince: at, approved: null },
      },
      { domains: range(6, 31), applied: null, passed: false },
    ],
    released: [],
    applies: ['a1'],
    ...own,
  }
}

/** Builds an unfinished rollout as a source has it; its state follows from the rollout. */
export function openRollout(own: Partial<Rollout> = {}, state?: ListedState): OpenRollout {
  const rollout = buildRollout(own)
  const listed = listRollout(rollout, state === 'running')
  return {
    rollout,
    listed: state === undefined ? listed : { ...listed, state },
    step: identifyStep(rollout),
  }
}

/** Builds the overview of a leader whose commit is applied. */
export function buildOverview(own: Partial<Overview> = {}): Overview {
  return {
    workspace: 'storefront',
    role: 'leader',
    branch: { location: 'https://git.example.com/team/cdn.git', name: 'main' },
    commit: headCommit,
    fetchedAt: at,
    applied: { commit: headCommit, at, status: 'done', message: null },
    drift: { at, pending: 0, live: 0, inDoubt: 0, unanswered: 0 },
    working: null,
    unattended: [],
    problem: null,
    stop: null,
    rollouts: [],
    ended: [],
    recent: { newest: 0, acts: [], applies: [] },
    ...own,
  }
}

/** The overview with a rollout that waits for approval. */
export const waiting = () =>
  buildOverview({
    rollouts: [openRollout()],
    applied: { commit: headCommit, at, status: 'waiting', message: 'wave 2 waits' },
  })

/** Builds the pages of two domains. */
export function buildDomains(): DomainPages {
  const page = (domain: string) => {
    const applies = [['a1', '2026-01-02T01:00:00.000Z']]
    const head = `<h1>${domain}</h1>`
    return JSON.stringify({ title: domain, tone: 'fine', domain, head, main: '<hr>', applies })
  }
  const texts = [page('a.example.com'), page('\u00fc \ud83d\ude00')]
  const pages = [
    ['a.example.com', texts[0]?.length],
    ['~0123', texts[1]?.length],
  ]
  const sentence = '2 domains as recorded.'
  const list = {
    title: 'Domains',
    tone: 'fine',
    sentence,
    main: `<h1>${sentence}</h1>`,
    changes: '',
    refused: [],
  }
  const text = `${JSON.stringify({ list, pages })}\n${texts.join('')}`
  return parseDomainPages({ text, format: () => '', at, commit: headCommit, revision: 'plan-1' })
}

/** Creates a source of pages that always has the same. */
export function createPages(own: Partial<PageSource> = {}): PageSource {
  const built: BuiltPage = {
    format: (nav) => formatPage(buildWavesPage(), nav),
    at,
    commit: headCommit,
    revision: 'plan-1',
  }
  return {
    overview: () => Promise.resolve(waiting()),
    plan: () => Promise.resolve(built),
    history: () => Promise.resolve(built),
    planJson: () => Promise.resolve('{}'),
    domains: () => Promise.resolve(buildDomains()),
    getDomains: () => null,
    refresh: () => Promise.resolve(),
    trace: ({ url, ip }) =>
      Promise.resolve({
        recorded: `It is denied ${ip}.\n${url}\noutcome denied`,
        desired: `It is served.\n${url}\noutcome served`,
      }),
    statistics: () => Promise.resolve({ fault: 'the service is away.' }),
    drift: async () => null,
    listEvents: () => [],
    ...own,
  }
}
