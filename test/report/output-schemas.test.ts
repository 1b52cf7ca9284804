import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import type { ErrorCode } from '../../src/core/model/edgewise-error.ts'
import { resolvePointer, isObject, type Json } from '../../src/core/model/json.ts'
import { diagnosticDescriptions } from '../../src/outlets/report/generated/diagnostics.ts'
import { listSchemaErrors, loadOutputSchema } from './output-schema.ts'
import { buildStatistics } from '../health/statistics.ts'

const folder = new URL('../../schemas/output/', import.meta.url)
const names = readdirSync(folder).map((file) => file.replace('.schema.json', ''))
const time = '2026-01-02T03:04:05.678Z'
const counts = { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 }
const sample = { requests: 2, bad: 1 }
const patch = [
  { op: 'add', path: '/a~1b/0', value: { $secret: 'unresolved:Bearer ${secret:token}' } },
]
const recorded = {
  value: null,
  condition: 'assumed',
  commit: null,
  author: null,
  sources: [],
  candidates: [{ cert_id: 1 }],
  status: 'confirmed',
  at: time,
  apply: 'a1',
  origin: 'write',
}

type EventBody<T> = Omit<Extract<ApplyEvent, { type: T }>, 'type' | 'time'>
const bodies: { [T in ApplyEvent['type']]: EventBody<T> } = {
  'apply.started': { apply: 'a1', writes: 1, releases: 0 },
  'write.started': {
    id: 1,
    domains: ['www.example.com'],
    items: ['https'],
  },
  'write.confirmed': { id: 1, rewritten: ['https'] },
  'write.refused': { id: 1, code: null, message: 'no' },
  'write.in-doubt': {
    id: 1,
    domains: ['a.example.com'],
    items: ['https'],
    message: 'timed out',
  },
  'write.not-sent': {
    id: 1,
    message: 'interrupted',
    reason: 'interrupted',
  },
  'write.waiting': { id: 1, seconds: 30, message: 'call budget' },
  'part.confirmed': {
    id: 1,
    domains: ['a.example.com'],
    items: ['https'],
  },
  'part.refused': {
    id: 1,
    domains: ['a.example.com'],
    items: ['https'],
    file: 'domains/a.yaml',
    line: 3,
    code: 1104,
    message: 'no',
  },
  'part.not-sent': {
    id: 2,
    domains: ['a.example.com'],
    items: ['https'],
    message: 'the service does not know the domain',
  },
  'write.isolating': {
    id: 1,
    domains: ['www.example.com'],
    items: ['https'],
  },
  'wave.finished': { wave: 1 },
  'wave.waiting': {
    wave: 1,
    waves: 2,
    domains: 3,
    until: time,
    reason: 'pause',
  },
  'wave.watched': {
    wave: 1,
    statuses: ['5xx'],
    before: sample,
    after: sample,
  },
  'wave.judged': {
    wave: 1,
    verdict: 'worse',
    reason: 'rose',
    before: sample,
    after: sample,
    worse: [{ domain: 'a.example', before: sample, after: sample }],
    statistics: buildStatistics(),
  },
  'rollout.waiting-for-approval': {
    apply: 'a1',
    wave: 2,
    waves: 3,
    domains: 4,
    reason: 'approval',
    command: 'edgewise rollout approve a1',
  },
  'rollout.taking-back': {
    apply: 'a1',
    reason: 'worse',
    writes: 1,
  },
  'apply.verified': {
    same: 3,
    notVerifiable: [{ item: 'cache_rule_list', fields: ['case_ignore'], domains: 2 }],
    differs: [{ domain: 'a.example', item: 'https' }],
    unknown: 0,
    failure: null,
  },
  'apply.finished': {
    apply: 'a1',
    stopped: null,
    ...counts,
    parts: counts,
  },
}
const events = Object.fromEntries(
  Object.entries(bodies).map(([type, body]) => [type, { type, time, ...body }]),
) as Record<ApplyEvent['type'], object>
const errorCodes: Record<ErrorCode, true> = {
  usage: true,
  invalid: true,
  'not-a-workspace': true,
  access: true,
  'not-allowed': true,
  'record-damaged': true,
  'record-unreachable': true,
  'record-moved': true,
  'state-rewound': true,
  'stale-plan': true,
  locked: true,
  declined: true,
  guarded: true,
  stopped: true,
  'local-state': true,
  'owned-elsewhere': true,
  'rollout-open': true,
  'rollback-unfinished': true,
  'not-observed': true,
  irreversible: true,
  unavailable: true,
  'service-failed': true,
  'service-refused': true,
  'answer-invalid': true,
  'plan-unproven': true,
}
const drifted = {
  domain: 'a.example',
  item: 'https',
  kinds: ['pending', 'live'],
  confidence: 'in-doubt',
  recordedAt: time,
  pending: patch,
  live: [],
}
const statistics = {
  format: 'edgewise.stats/1',
  from: time,
  to: time,
  grain: 'hour',
  timezone: 'UTC',
  area: 'all',
  labels: 'start',
}
const series = {
  requests: 3,
  classes: { '2xx': 2, '3xx': 0, '4xx': 0, '5xx': 0, other: 1 },
  statuses: { '0': 1, '200': 2 },
  points: [{ time, statuses: { '0': 1, '200': 2 } }],
}
const record = {
  id: '7',
  url: 'https://a.example/x',
  status: 'completed',
  createdAt: time,
  completedAt: time,
}
const prefetched = {
  format: 'edgewise.prefetch/1',
  complete: true,
  summary: { total: 2, waiting: 0, processing: 0, completed: 1, failed: 1 },
  records: [record, { ...record, status: 'failed', completedAt: null }],
}
const accepted: [string, unknown][] = [
  ...Object.values(events).map((event): [string, unknown] => ['apply-event', event]),
  ['apply-event', { ...events['write.not-sent'], reason: 'unchanged' }],
  ['apply-event', { ...events['apply.finished'], unchanged: 2 }],
  [
    'drift',
    {
      format: 'edgewise.drift/1',
      items: [drifted],
      summary: { verified: 0, assumed: 0, inDoubt: 1, pending: 1, live: 1 },
    },
  ],
  [
    'state-list',
    {
      format: 'edgewise.state/1',
      domains: [{ domain: 'a.example', items: 3, inDoubt: 0, confirmedAt: null }],
    },
  ],
  ['show', shown(recorded)],
  [
    'show',
    shown({ ...recorded, candidates: [], status: null, at: null, apply: null, origin: null }),
  ],
  ['show', shown({ ...recorded, status: 'unset', candidates: [], returned: null })],
  ['show', shown({ ...recorded, status: 'in-doubt', candidates: [], unknown: true })],
  [
    'history',
    {
      format: 'edgewise.history/1',
      applies: [
        {
          id: 'a1',
          startedAt: time,
          endedAt: null,
          commit: null,
          author: 'me',
          writes: counts,
          parts: counts,
          outcome: 'interrupted',
        },
      ],
    },
  ],
  [
    'history',
    {
      format: 'edgewise.history/1',
      domain: 'a.example',
      applies: [],
      pruned: 1,
    },
  ],
  [
    'error',
    {
      format: 'edgewise.error/1',
      code: 'usage',
      message: 'expected a folder',
      hint: '',
      diagnostics: [],
    },
  ],
  ['stats', { ...statistics, sum: null, series: [{ ...series, domain: 'a.example' }] }],
  ['stats', { ...statistics, sum: 'all', series: [{ ...series, domain: null }] }],
  ['prefetch', { ...prefetched, query: { task: '1001' } }],
  ['prefetch', { ...prefetched, query: { from: '2026-01-02', to: '2026-01-03', url: null } }],
  [
    'report',
    {
      format: 'edgewise.report/1',
      domains: 3,
      states: { 'in-doubt': 0, drifted: 0, refused: 0, 'on-hold': 0, pending: 1, recorded: 2 },
      removed: 1,
    },
  ],
  ['fmt', { format: 'edgewise.fmt/1', check: true, changed: ['domains/a.yaml'] }],
  [
    'verify',
    {
      format: 'edgewise.verify/1',
      findings: [{ code: 'unlinked', number: 2, message: 'entry 2 does not follow.' }],
      entries: 2,
      since: '2026-08-22T00:00:00.000Z',
      newest: '0a'.repeat(32),
      signed: null,
      hasHead: false,
      pending: 0,
    },
  ],
  [
    'prune',
    {
      format: 'edgewise.prune/1',
      before: '2026-08-22T00:00:00.000Z',
      applies: ['20260101T000000Z-0001'],
      kept: 3,
    },
  ],
  [
    'rollouts',
    {
      format: 'edgewise.rollouts/1',
      rollouts: [
        {
          id: 'a1',
          apply: null,
          commit: null,
          author: 'me',
          startedAt: time,
          wave: 1,
          domains: 2,
          waves: 3,
          state: 'waiting-for-approval',
          since: time,
          command: 'edgewise rollout approve a1',
        },
      ],
      stop: { author: 'me', knownBy: 'ci', at: time, reason: 'why' },
    },
  ],
  [
    'stop-decision',
    {
      format: 'edgewise.stop-decision/1',
      account: 'main',
      decision: 'already-stopped',
      lookSeconds: 1.5,
      stop: { fault: 'it is not JSON' },
    },
  ],
  [
    'rollout-decision',
    {
      format: 'edgewise.rollout-decision/1',
      id: 'a1',
      decision: 'aborted',
      author: 'me',
      at: time,
      wave: 2,
      waves: 3,
      held: 4,
    },
  ],
  ['move', { format: 'edgewise.move/1', domains: 1, items: 2, to: 'production' }],
  ['migrate', { format: 'edgewise.migrate/1', location: 'db', files: 3, copied: 2 }],
  ['forget', { format: 'edgewise.forget/1', domains: 1, items: 2 }],
  [
    'import',
    {
      format: 'edgewise.import/1',
      domains: 1,
      items: 2,
      skipped: [{ domain: 'a.example', item: 'https', reason: 'no manifest mentions it' }],
    },
  ],
]
const refused: [string, string, unknown][] = [
  ['apply-event', 'an unknown type', { type: 'write.lost', time, id: 1 }],
  [
    'apply-event',
    'a time without a zone',
    { ...events['wave.finished'], time: '2026-01-02T03:04:05' },
  ],
  ['apply-event', 'a key of another event', { ...events['wave.finished'], id: 1 }],
  [
    'drift',
    'a removal with a value',
    {
      format: 'edgewise.drift/1',
      items: [{ ...drifted, live: [{ op: 'remove', path: '', value: 1 }] }],
      summary: {},
    },
  ],
  ['show', 'two confirmed values', shown({ ...recorded, candidates: [1, 2] })],
  ['show', 'a confirmed value that is unknown', shown({ ...recorded, unknown: true })],
  ['show', 'doubt about nothing', shown({ ...recorded, status: 'in-doubt', candidates: [] })],
  [
    'stats',
    'a status that is none',
    { ...statistics, sum: null, series: [{ ...series, domain: null, statuses: { ok: 1 } }] },
  ],
  ['stats', 'an unknown area', { ...statistics, area: 'moon', sum: 'all', series: [] }],
  ['stats', 'a sum over nothing', { ...statistics, sum: [], series: [] }],
  [
    'prefetch',
    'both ways to ask',
    { ...prefetched, query: { task: '1', from: '2026-01-02', to: '2026-01-03', url: null } },
  ],
  [
    'prefetch',
    'an unknown status',
    { ...prefetched, query: { task: '1' }, records: [{ ...record, status: 'lost' }] },
  ],
  [
    'error',
    'an unknown code',
    { format: 'edgewise.error/1', code: 'other', message: 'x', hint: '', diagnostics: [] },
  ],
]

function shown(entry: unknown): unknown {
  const about = { place: null, profiles: [], owners: [], recordedOnly: null }
  return { format: 'edgewise.domain/1', domain: 'a.example', ...about, items: { https: entry } }
}

describe('the schemas of machine output', () => {
  it.each(accepted)('%s accepts %j', (name, output) => {
    expect(listSchemaErrors(name, output)).toEqual([])
  })

  it.each(refused)('%s refuses %s', (name, _what, output) => {
    expect(listSchemaErrors(name, output)).not.toEqual([])
  })

  it('list every error code and every event type', () => {
    expect(resolvePointer(loadOutputSchema('error'), '/properties/code/enum')).toEqual(
      Object.keys(errorCodes),
    )
    expect(
      resolvePointer(loadOutputSchema('diagnostics'), '/$defs/diagnostic/properties/code/enum'),
    ).toEqual(Object.keys(diagnosticDescriptions))
    expect(loadOutputSchema('apply-event')['oneOf']).toHaveLength(Object.keys(events).length)
  })

  it('agree on shared definitions', () => {
    const definitions = names.flatMap((name) =>
      Object.entries(loadOutputSchema(name)['$defs'] ?? {}),
    )
    for (const [key, definition] of definitions)
      expect(definition).toEqual(definitions.find(([other]) => other === key)?.[1])
  })

  it.each(names)('%s describes every field, and closes every object', (name) => {
    const schema = loadOutputSchema(name)
    expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema')
    for (const [path, part] of objectsIn(schema, name)) {
      if (part['type'] !== 'object' || !isObject(part['properties']) || path.includes('/value'))
        continue
      expect({
        path,
        closed: part['additionalProperties'],
        required: Array.isArray(part['required']),
      }).toEqual({
        path,
        closed: false,
        required: true,
      })
      for (const [field, property] of Object.entries(part['properties'])) {
        const target =
          isObject(property) && typeof property['$ref'] === 'string'
            ? resolvePointer(schema, property['$ref'].slice(1))
            : property
        expect({ path, field, described: describedIn(property) || describedIn(target) }).toEqual({
          path,
          field,
          described: true,
        })
      }
    }
  })
})

function describedIn(part: Json | undefined): boolean {
  return isObject(part) && typeof part['description'] === 'string'
}

/** Lists every object within a schema, with its path. */
function objectsIn(part: Json, path: string): [string, Record<string, Json>][] {
  if (Array.isArray(part)) return part.flatMap((entry, i) => objectsIn(entry, `${path}/${i}`))
  if (!isObject(part)) return []
  return [
    [path, part],
    ...Object.entries(part).flatMap(([key, entry]) => objectsIn(entry, `${path}/${key}`)),
  ]
}
