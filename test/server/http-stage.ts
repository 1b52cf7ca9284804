import { createServerMetrics } from '../../src/outlets/metrics/server-metrics.ts'
import type { Decided } from '../../src/core/model/listed-rollout.ts'
import type { Controller } from '../../src/server/controller.ts'
import { createHttpServer, type HttpServerOptions } from '../../src/server/http/http-server.ts'
import { createRefusalLog } from '../../src/server/people/refusal-log.ts'
import { createLogger } from '../../src/server/logger.ts'
import { createPages } from './page-stage.ts'

/** Token of the API of each server. */
export const apiToken = 'a-long-token-for-tests'
/** Time of the clock of each server, ms since 1970. */
export const now = Date.UTC(2026, 0, 2, 3, 4, 5)
const at = new Date(now).toISOString()

/** A server around a controller that records what it is asked for. */
export interface HttpStage {
  port: number
  url: string
  /** Calls that change something, such as `poke`, in order. */
  calls: string[]
  /** Lines of the log. */
  log: string[]
  /** Hides secrets in all texts. */
  setHide(hide: (text: string) => string): void
  /** Returns the value of a metric with a label; undefined if it has none. */
  count(metric: string, label: string): Promise<number | undefined>
  close(): Promise<void>
}

const stages: HttpStage[] = []

/** Creates the options of a server, and what its controller and log record. */
export function createOptions(own: Partial<Controller> = {}) {
  const calls: string[] = []
  const log: string[] = []
  const metrics = createServerMetrics({ workspace: 'shop', account: 'main' })
  const clock = {
    now: () => now,
    monotonic: () => performance.now(),
    sleep: (ms: number) => {
      // The others are limits of what is waited for.
      if (ms < 1000) calls.push(`sleep ${ms}`)
      return Promise.resolve()
    },
  }
  const logger = createLogger({
    clock,
    out: (line) => log.push(line),
    format: 'json',
    level: 'debug',
  })
  const controller: Controller = {
    ...createOpenRights(logger, metrics),
    pages: createPages(),
    metrics,
    status: () => Promise.resolve({ role: 'leader' }),
    plan: () => Promise.resolve('{"format":"edgewise.plan/1"}\n'),
    listRollouts: () => Promise.resolve([listed]),
    decide: (verb, id, _identity, step) => {
      if (id !== 'r1') return Promise.resolve(null)
      calls.push(step === undefined ? `${verb} ${id}` : `${verb} ${id} ${step}`)
      return Promise.resolve(decided)
    },
    findStop: () => Promise.resolve(null),
    decideAll: (verb, { reason, seen }) => {
      calls.push([verb, 'all', reason ?? seen ?? ''].join(' ').trim())
      const stop = { author: 'ada', knownBy: 'serve' as const, at: '2026-11-20T12:00:00.000Z' }
      const decision = verb === 'stop' ? 'stopped' : 'resumed'
      return Promise.resolve({
        account: 'main',
        decision,
        stop,
        store: 'postgres',
        lookSeconds: 1.5,
      })
    },
    poke: () => void calls.push('poke'),
    isHealthy: () => null,
    findUnready: () => Promise.resolve(null),
    ...own,
  }
  const options: HttpServerOptions = {
    controller,
    clock,
    webhookSecret: 'the-secret',
    token: apiToken,
    logger,
    newId: () => 'defect-1',
  }
  return { options, calls, log }
}

/** The part of a controller that lets everybody do everything. */
export function createOpenRights(logger: Controller['logger'], metrics: Controller['metrics']) {
  const rules = { sets: [], authors: 'nobody knows them' }
  return {
    refuse: () => Promise.resolve(),
    logger,
    auth: { provider: null, proxy: null, ci: [], variables: [] },
    rights: {
      findRules: () => Promise.resolve(rules),
      findRulesFor: () => Promise.resolve(rules),
      explain: () => Promise.resolve(null),
    },
    noteRefusal: createRefusalLog(logger, metrics).record,
  }
}

/** Starts a server on a free port. */
export async function startHttp(
  own: Partial<Controller> = {},
  changed: Partial<HttpServerOptions> = {},
): Promise<HttpStage> {
  const { options, calls, log } = createOptions(own)
  const { metrics } = options.controller
  const http = createHttpServer({ ...options, ...changed })
  const port = await http.listen(0, '127.0.0.1')
  const stage = {
    port,
    url: `http://127.0.0.1:${port}`,
    calls,
    log,
    count: async (metric: string, label: string) => {
      const { text } = await metrics.format('prometheus')
      const line = text
        .split('\n')
        .find((each) => each.startsWith(`edgewise_${metric}{`) && each.includes(`"${label}"`))
      return line === undefined ? undefined : Number(line.split(' ').at(-1))
    },
    setHide: (hide: (text: string) => string) =>
      options.logger.setSecrets({ scrub: hide, redact: hide }),
    close: () => http.close(),
  }
  stages.push(stage)
  return stage
}

/** Closes all servers. */
export async function closeHttp(): Promise<void> {
  await Promise.all(stages.splice(0).map((stage) => stage.close()))
}

export const listed = {
  id: 'r1',
  apply: 'a1',
  commit: null,
  author: null,
  startedAt: at,
  wave: 1,
  domains: 1,
  waves: 1,
  state: 'waiting-for-approval' as const,
  since: at,
  command: 'edgewise rollout approve r1',
}
const decided: Decided = {
  verb: 'approved',
  by: { author: 'somebody', at },
  rollout: {
    id: 'r1',
    startedAt: at,
    commit: null,
    author: null,
    state: 'open',
    reason: null,
    items: [],
    desiredHashes: {},
    endedAt: null,
    values: {},
    onHold: {},
    waves: [{ domains: ['www.example.com'], applied: null, passed: false }],
    released: [],
    applies: ['a1'],
  },
}
