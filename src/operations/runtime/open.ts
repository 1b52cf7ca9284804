import { resolve } from 'node:path'
import { createNoWorkspaceError, findRoot } from '../../manifest/workspace-file/find-root.ts'
import type { SecretReach } from '../../manifest/secrets/secret-sources.ts'
import type { HistoryEntry } from '../../core/model/applied.ts'
import type { Decided, ListedRollout } from '../../core/model/listed-rollout.ts'
import type { Json, JsonObject } from '../../core/model/json.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import type { Tested } from '../../core/tests/results.ts'
import type { TracedRequest } from '../../core/trace/request.ts'
import { apply, type ApplyRequest } from '../apply.ts'
import { drift, type DriftRequest } from '../drift.ts'
import type { FoundDrift } from '../observation/find-drift.ts'
import { loadWorkspace } from './load-workspace.ts'
import { createNodeOutside } from './node-outside.ts'
import type { Outside } from './parts.ts'
import { plan, type Planned, type PlanRequest } from '../plan.ts'
import type { Dialogue, Ports } from './ports.ts'
import { repair, type RepairRequest } from '../repair.ts'
import { rollback, type RollbackRequest, type RolledBackApply } from '../rollback.ts'
import { decideRollout, listRollouts, type RolloutRequest } from '../rollouts.ts'
import { loadHistory } from '../history/past-applies.ts'
import { createReleaseRefusal } from '../submission/foreign-release.ts'
import type { Executed } from '../submission/executed.ts'
import { test, type TestRequest } from '../test.ts'
import { traceRequests, type TraceOptions } from '../trace.ts'
import { validate, type ValidateRequest } from '../validate.ts'

/**
 * Workspace handle. Each method reloads the manifests and does everything that the command of the
 * same name does, including lock, guards, freezes, open rollouts and consent.
 */
export interface Edgewise {
  /** Folder of `edgewise.yaml`. */
  readonly root: string
  /** Reports every problem of all manifests. */
  validate(request?: ValidateRequest): Promise<Diagnostic[]>
  /** Plans the changes; sends and records nothing. */
  plan(request?: PlanRequest): Promise<Planned>
  /** Plans, asks the dialogue, and applies. */
  apply(request?: ApplyRequest): Promise<Executed>
  /** Rolls back to the state before an apply. */
  rollback(request?: RollbackRequest): Promise<RolledBackApply>
  /** Compares desired, recorded and observed state. */
  drift(request?: DriftRequest): Promise<FoundDrift>
  /** Applies the manifests over the observed configuration. */
  repair(request?: RepairRequest): Promise<Executed>
  /** Traces a request through a configuration; `edgewise.trace/1`. Calls nothing. */
  trace(request: TracedRequest, options?: TraceOptions): Promise<JsonObject>
  /**
   * Traces many requests, in their order, and loads the manifests once. What the answers rest on is
   * left out, which takes longer than they.
   */
  traces(requests: readonly TracedRequest[], options?: TraceOptions): Promise<JsonObject[]>
  /** Runs the tests of the manifests; calls nothing. */
  test(request?: TestRequest): Promise<Tested>
  /** Lists the applies, first to last. */
  history(): Promise<HistoryEntry[]>
  /** Lists the unfinished rollouts, first to last. */
  rollouts(): Promise<ListedRollout[]>
  /** Approves the wave that a rollout waits for; `apply` continues it. */
  approve(request: RolloutRequest): Promise<Decided>
  /** Pauses a rollout before its next wave, also while another process runs it. */
  pause(request: RolloutRequest): Promise<Decided>
  /** Resumes a paused rollout; `apply` continues it. */
  resume(request: RolloutRequest): Promise<Decided>
  /** Ends a rollout in its current state; what was not sent is on hold. */
  abort(request: RolloutRequest): Promise<Decided>
}

/** Options for opening a workspace; omitted ports are those of the Node process. */
export interface OpenOptions {
  outside?: Partial<Outside>
  /**
   * Without `confirm`, calling `apply`, `rollback` or `repair` is consent, but neither to older
   * values nor to releasing what another workspace applied.
   */
  dialogue?: Partial<Dialogue>
  /** Abort to interrupt: nothing more is sent, and writes in flight are recorded. */
  signal?: AbortSignal
}

/**
 * Opens the workspace that contains a folder.
 *
 * @throws EdgewiseError `not-a-workspace` when there is no `edgewise.yaml` in the folder or above
 * it
 */
export function open(
  folder: string,
  { outside = {}, dialogue = {}, signal }: OpenOptions = {},
): Edgewise {
  const root = findRoot(folder)
  if (root === null) throw createNoWorkspaceError(resolve(folder))
  const ports: Ports = {
    outside: completeOutside(outside, createNodeOutside(signal ?? new AbortController().signal)),
    dialogue: completeDialogue(dialogue),
  }
  const load = (reach: SecretReach) => loadWorkspace(root, ports.outside, reach)
  return {
    root,
    validate: (request = {}) => validate(load('none'), request, ports.outside),
    plan: (request = {}) => plan(load('available'), request, ports),
    apply: (request = {}) => apply(load('available'), request, ports),
    rollback: (request = {}) => rollback(load('available'), request, ports),
    drift: (request = {}) => drift(load('available'), request, ports.outside),
    repair: (request = {}) => repair(load('available'), request, ports),
    trace: async (request, options = {}) => {
      const requests = [toJson(request)]
      const [traced] = await traceRequests(load('none'), { ...options, requests }, ports.outside)
      return traced?.output ?? {}
    },
    traces: async (given, options = {}) => {
      const requests = given.map(toJson)
      const all = { ...options, requests, asks: false }
      return (await traceRequests(load('none'), all, ports.outside)).map(({ output }) => output)
    },
    test: async (request = {}) => test(load('none'), request, ports.outside),
    history: async () => (await loadHistory(load('none'), ports.outside)).applies,
    rollouts: () => listRollouts(load('none'), ports.outside),
    approve: (request) => decideRollout('approve', load('none'), request, ports),
    pause: (request) => decideRollout('pause', load('none'), request, ports),
    resume: (request) => decideRollout('resume', load('none'), request, ports),
    abort: (request) => decideRollout('abort', load('none'), request, ports),
  }
}

/** All members of the outside; the type misses none. */
const members: Record<keyof Outside, true> = {
  env: true,
  clock: true,
  random: true,
  newId: true,
  user: true,
  signal: true,
  transport: true,
  note: true,
  onPhase: true,
  runBlocking: true,
  onSending: true,
  machine: true,
  disk: true,
  openGit: true,
  createPool: true,
  databasePatienceMs: true,
  identifyToken: true,
  actor: true,
  solver: true,
  pool: true,
  cache: true,
}

/** Completes the outside. Its members may be on a prototype, which a spread would miss. */
function completeOutside(given: Partial<Outside>, node: Outside): Outside {
  const own = (Object.keys(members) as (keyof Outside)[]).flatMap((name) => {
    const value: unknown = given[name]
    return value === undefined
      ? []
      : [[name, typeof value === 'function' ? value.bind(given) : value]]
  })
  return { ...node, ...Object.fromEntries(own) }
}

/** Copies the given facts of a request as JSON. */
function toJson(request: TracedRequest): Json {
  return JSON.parse(JSON.stringify(request)) as Json
}

function completeDialogue(given: Partial<Dialogue>): Dialogue {
  return {
    note: (text) => given.note?.(text),
    warn: (text) => given.warn?.(text),
    show: (subject) => given.show?.(subject),
    confirm: async (question) => {
      if (given.confirm !== undefined) return given.confirm(question)
      if (question.kind === 'older') throw question.refusal
      if (question.kind === 'release') throw createReleaseRefusal(question)
      return true
    },
    startProgress: async (extent) =>
      (await given.startProgress?.(extent)) ?? { report: () => undefined, end: () => undefined },
  }
}
