import { apply } from '../../src/operations/apply.ts'
import { openState } from '../../src/operations/runtime/open-state.ts'
import { queryPrefetchTasks } from '../../src/operations/prefetch.ts'
import { queryStats } from '../../src/operations/stats.ts'
import { formatRollout } from '../../src/state/format/rollout-file.ts'
import { buildStatePaths } from '../../src/state/format/state-paths.ts'
import { buildWriteAnswer, recordAnswers, type PlainAnswer } from './answers.ts'
import { sources, type FuzzWorld } from './fuzz-world.ts'

const hour = 3_600_000
const from = Date.UTC(2026, 10, 20)
const statistics = {
  domains: ['a.example.com'],
  from,
  to: from + hour,
  area: 'all',
  labels: 'start',
  keepPoints: true,
} as const
const idle = {
  onWait: () => undefined,
  startProgress: () => ({ report: () => undefined, end: () => undefined }),
}

/** Queries the interface at a path. */
export async function query(world: FuzzWorld, path: string): Promise<void> {
  const workspace = world.load()
  const ports = { ...idle, outside: world.outside() }
  if (path === '/v2/cache/prefetch') {
    const wanted = { from: '2026-11-19', to: '2026-11-20' }
    await queryPrefetchTasks(workspace, { query: wanted, wait: false }, ports)
  } else {
    const sum = path === '/v2/stat/httpcode'
    await queryStats(
      workspace,
      { ...statistics, domains: ['a.example.com'], grain: 'minute5', sum },
      ports,
    )
  }
}

/** Records the answers of an emulator to the queries of the kinds. */
export function recordQueries(world: FuzzWorld): Promise<Map<string, PlainAnswer>> {
  return recordAnswers(async (transport) => {
    world.transport = transport
    for (const path of ['/v2/stat/httpcode/eachDomain', '/v2/stat/httpcode', '/v2/cache/prefetch'])
      await query(world, path)
  })
}

/**
 * Records state: that of an apply that ended, then that of one that was killed during its first
 * call, with a rollout and a doubt mark.
 */
export async function recordInterrupted(
  world: FuzzWorld,
  honest: FuzzWorld['transport'],
): Promise<Map<string, string>> {
  await apply(world.load(), {}, world.ports())
  const settled = new Map(world.files)
  const manifest = sources.get('domains/all.yaml') ?? ''
  world.write('domains/all.yaml', manifest.replace('203.0.113.9', '203.0.113.10'))
  let interrupted = new Map<string, string>()
  world.transport = async (request) => {
    interrupted = new Map(world.files)
    return honest(request)
  }
  await apply(world.load(), {}, world.ports())
  world.write('domains/all.yaml', manifest)
  const { store } = await openState(world.load(), world.outside())
  const [folder = ''] = store.location.split('/default/')
  const paths = buildStatePaths({ id: 'default', address: 'https://service' })
  const [journal = ''] = [...interrupted.keys()].filter((path) => path.includes('/journal/'))
  const ended = journal.split('/').at(-1)?.replace('.json', '') ?? ''
  const add = (path: string, text: string) => interrupted.set(`${folder}/${path}`, text)
  add(
    paths.rollout('r1'),
    formatRollout({
      id: 'r1',
      startedAt: '2026-11-20T00:00:00.000Z',
      commit: null,
      author: 'fuzzer',
      state: 'stopped',
      reason: 'worse',
      items: [],
      desiredHashes: { 'b.example.com': `sha256:${'0'.repeat(64)}` },
      endedAt: '2026-11-20T00:01:00.000Z',
      values: { 'b.example.com': { https: 'a' } },
      onHold: { 'b.example.com': { https: 'a' } },
      waves: [
        {
          domains: ['b.example.com'],
          applied: {
            from: '2026-11-20T00:00:00.000Z',
            to: '2026-11-20T00:00:02.000Z',
            serviceFrom: '2026-11-20T00:00:00.000Z',
            serviceTo: '2026-11-20T00:00:02.000Z',
          },
          passed: false,
        },
      ],
      released: [],
      applies: [ended],
    }),
  )
  add(
    paths.doubt(ended),
    `${JSON.stringify({ format: 'edgewise.doubt/1', apply: ended, writes: [1] })}\n`,
  )
  world.files = settled
  return interrupted
}

/** Builds the answer to a sample write. */
export function buildSampleAnswer(): PlainAnswer {
  return buildWriteAnswer(
    JSON.stringify({
      domains: 'a.example.com,b.example.com',
      config: { timeout: { time: '30' }, https: { cert_id: '1001' } },
    }),
  )
}
