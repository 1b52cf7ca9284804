import type { ServerMetrics } from '../../src/outlets/metrics/server-metrics.ts'
import type { RecordedItem } from '../../src/state/store/store.ts'
import { buildStatistics } from '../health/statistics.ts'

const time = '2026-01-02T03:04:05Z'
const now = Date.parse(time) / 1000 + 60

/** Records something for each metric, so that each has samples with all of its labels. */
export function recordAll(metrics: ServerMetrics): void {
  metrics.recordEvent({
    type: 'apply.finished',
    time,
    apply: 'a1',
    stopped: null,
    confirmed: 1,
    refused: 2,
    inDoubt: 3,
    notSent: 4,
    parts: { confirmed: 5, refused: 6, inDoubt: 7, notSent: 8 },
  })
  const sample = { requests: 1, bad: 0 }
  metrics.recordEvent(
    {
      type: 'wave.judged',
      time,
      wave: 1,
      verdict: 'worse',
      reason: null,
      before: sample,
      after: sample,
      worse: [],
      statistics: buildStatistics(),
    },
    'r1',
  )
  metrics.recordApply('apply', 'done', 2)
  metrics.recordLockWait(0.5)
  const about = { domain: 'www.example.com', item: 'timeout' }
  metrics.setPlan({
    changes: [
      { ...about, action: 'set', reason: 'differs', before: null, after: { time: 60 }, patch: [] },
    ],
    writes: [],
  })
  metrics.setDrift({
    items: [
      {
        ...about,
        kinds: ['live'],
        confidence: 'verified',
        recordedAt: null,
        pending: [],
        live: [],
        notVerifiable: [],
        held: false,
      },
    ],
  })
  const item = { candidates: [], at: time, apply: 'a1', origin: 'write' } as const
  const items = new Map<string, RecordedItem>([
    ['timeout', { ...item, candidates: [{ time: 60 }], status: 'confirmed' }],
    ['https', { ...item, candidates: [], status: 'in-doubt' }],
  ])
  metrics.setConfirmations(new Map([['www.example.com', items]]), now)
  metrics.setBudget(20, 30)
  metrics.setRollouts([
    {
      id: 'r1',
      apply: null,
      commit: null,
      author: null,
      startedAt: time,
      wave: 1,
      domains: 1,
      waves: 1,
      state: 'paused',
      since: time,
      command: 'edgewise rollout approve r1',
    },
  ])
  metrics.setLeader(7)
  metrics.setBranch({ commit: 'abc', appliedAt: 900, inSync: true })
  metrics.setFetched(1000)
  metrics.setUnattended(1)
  metrics.countTakenUp()
  metrics.setDatabase(true)
  metrics.setOutbox({ pending: 1, givenUp: 2, oldestSeconds: 3 })
  metrics.countWebhook('accepted')
  metrics.countDenied('abort', 'oidc')
  metrics.countAct('apply', 'serve')
  metrics.countError('locked')
  metrics.countError('defect')
}
