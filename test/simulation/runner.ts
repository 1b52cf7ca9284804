import { SecretVault } from '../../src/manifest/secrets/secret-vault.ts'
import type { WorkspaceConfig } from '../../src/manifest/workspace-file/workspace.ts'
import { EdgewiseError, DefectAfterWrites } from '../../src/core/model/edgewise-error.ts'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import type { Snapshot } from '../../src/core/model/item.ts'
import { apply, type ApplyRequest } from '../../src/operations/apply.ts'
import type { Diagnostic } from '../../src/core/model/problem.ts'
import type { LoadedWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { loadState } from '../../src/operations/runtime/open-state.ts'
import { decideRollout, listRollouts } from '../../src/operations/rollouts.ts'
import { unlock } from '../../src/operations/unlock.ts'
import type { Outside } from '../../src/operations/runtime/parts.ts'
import type { Dialogue } from '../../src/operations/runtime/ports.ts'
import type { RecordedState } from '../../src/state/store/store.ts'
import { checkHistory } from './laws.ts'
import type { Process } from './machine.ts'
import type { Network } from './network.ts'
import type { StateWorld } from './state-world.ts'

/** Part of a write that is reported as refused. */
export type RefusedPart = Extract<ApplyEvent, { type: 'part.refused' }>

/** Ending of a run of `edgewise apply`. */
export type Ending = 'settled' | 'complete' | 'waiting' | 'incomplete' | 'failed' | 'killed'

export interface Run {
  process: Process
  config: WorkspaceConfig
  desired: Snapshot
  network: Pick<Network, 'createTransport'>
  stateWorld: StateWorld
  lockTimeoutMs: number
  signal: AbortSignal
  /** Called with the loaded state, under the lock. */
  loaded(recorded: RecordedState): void
  /** Called when all of its outcomes are recorded, or marked as doubtful. */
  marked(): void
  /** Called with each part that the service refused. */
  refused?(part: RefusedPart): void
  /** Number of the checked-out commit of a history without branches; absent: no repository. */
  commit?: number
  /** Also apply what is on hold, and older values. */
  allows?: Pick<ApplyRequest, 'retryHeld' | 'allowOlder'>
}

/** Runs `edgewise apply --yes` in a process of the simulation. */
export async function runApply(run: Run): Promise<Ending> {
  const { process } = run
  const ended = await Promise.race([
    process.killed,
    runUntilEnd(run).catch((error: unknown) => reportFailure(error, process)),
  ])
  if (ended !== 'killed') process.end()
  process.log(`run ends: ${ended}`)
  checkOwnHistory(run, ended)
  return ended
}

async function runUntilEnd(run: Run): Promise<Ending> {
  const outside = { ...createOutside(run), signal: run.signal }
  const request = {
    effort: 'quick',
    lockTimeout: run.lockTimeoutMs / 1000,
    ...run.allows,
  } as const
  const { plan, status, result } = await apply(createWorkspace(run), request, {
    outside,
    dialogue: createDialogue(run),
  })
  // An apply that can't write its mark reports that, or does not know of its loss.
  if (!/could not be marked|\(simulated\)/.test(result.unrecorded ?? '')) run.marked()
  if (status === 'waiting') return status
  if (status !== 'done') return 'incomplete'
  return plan.changes.length === 0 ? 'settled' : 'complete'
}

/** Creates a dialogue that observes the loaded state and the plan, and always agrees. */
function createDialogue({
  process,
  loaded,
  refused,
}: Pick<Run, 'process' | 'loaded' | 'refused'>): Dialogue {
  return {
    note: () => undefined,
    warn: () => undefined,
    show: (subject) => {
      if (subject.kind === 'state') {
        process.log('holds the lock')
        loaded(subject.recorded)
      }
      if (subject.kind === 'plan')
        process.log(
          `plans ${subject.plan.changes.length} changes in ${subject.plan.writes.length} writes`,
        )
    },
    // `--yes` consents to all but older values.
    confirm: async ({ kind }) => kind !== 'older',
    startProgress: async () => ({
      report: (event) => {
        process.log(describeEvent(event))
        if (event.type === 'part.refused') refused?.(event)
      },
      end: () => undefined,
    }),
  }
}

/** Runs `edgewise state unlock --yes`. */
export async function runUnlock(
  run: Pick<Run, 'process' | 'config' | 'desired' | 'network' | 'stateWorld'>,
  force: boolean,
): Promise<string> {
  const { process } = run
  const dialogue = createDialogue({ ...run, loaded: () => undefined })
  const ended = await Promise.race([
    process.killed,
    unlock(createWorkspace(run), { force }, { outside: createOutside(run), dialogue }).then(
      ({ ended: how }) => how,
      (error: unknown) => reportFailure(error, process),
    ),
  ])
  if (ended !== 'killed') process.end()
  process.log(`unlock ends: ${ended}`)
  checkOwnHistory(run, ended)
  return ended
}

/** Runs `edgewise rollout approve`, or `abort`, of the first unfinished rollout. */
export async function runDecision(
  verb: 'approve' | 'abort',
  run: Pick<Run, 'process' | 'config' | 'desired' | 'network' | 'stateWorld'>,
): Promise<string> {
  const { process } = run
  const dialogue = createDialogue({ ...run, loaded: () => undefined })
  const [workspace, outside] = [createWorkspace(run), createOutside(run)]
  const decide = async () => {
    const [listed] = await listRollouts(workspace, outside)
    const request = { rollout: listed?.id ?? '', lockTimeout: 300 }
    return (await decideRollout(verb, workspace, request, { outside, dialogue })).verb
  }
  const ended = await Promise.race([
    process.killed,
    decide().catch((error: unknown) => reportFailure(error, process)),
  ])
  if (ended !== 'killed') process.end()
  process.log(`${verb} ends: ${ended}`)
  checkOwnHistory(run, ended)
  return ended
}

function checkOwnHistory(
  { process, config, stateWorld }: Pick<Run, 'process' | 'config' | 'stateWorld'>,
  ended: string,
): void {
  const key = { id: config.id, address: config.service.url }
  checkHistory(process.world, stateWorld.readFiles(), key, `${process.name} ends: ${ended}`)
}

/** Loads the state without the lock. */
export async function loadRecorded(
  run: Pick<Run, 'process' | 'config' | 'desired' | 'network' | 'stateWorld'>,
): Promise<RecordedState> {
  const { recorded } = await loadState(createWorkspace(run), createOutside(run))
  return recorded
}

function reportFailure(thrown: unknown, process: Process): Ending {
  const error = thrown instanceof DefectAfterWrites ? thrown.cause : thrown
  process.log(`fails: ${error instanceof Error ? error.message : String(error)}`)
  const expected =
    error instanceof EdgewiseError
      ? error.code !== 'plan-unproven' && error.code !== 'record-damaged'
      : isInjected(error)
  if (!expected)
    process.world.violated(
      'no defect shows',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    )
  return 'failed'
}

/** Returns whether an error was injected; such errors are marked. */
function isInjected(error: unknown): boolean {
  return error instanceof Error && error.message.includes('(simulated)')
}

function describeEvent(event: ApplyEvent): string {
  const id = 'id' in event ? ` ${event.id}` : ''
  return `event ${event.type}${id}${'message' in event ? `: ${event.message}` : ''}`
}

function createOutside({
  process,
  network,
  stateWorld,
}: Pick<Run, 'process' | 'network' | 'stateWorld'>): Outside {
  const { clock, chance } = process
  let ids = 0
  return {
    env: {},
    clock,
    random: () => chance.draw(),
    newId: () => `id-${process.name}${ids++ === 0 ? '' : `-${ids}`}`,
    user: process.name,
    signal: new AbortController().signal,
    solver: null,
    transport: network.createTransport(process),
    ...stateWorld.createOutside(process),
  }
}

const atStart = { document: 0, line: 1, column: 1, endLine: 1, endColumn: 2 }

const noManifest: Diagnostic = {
  severity: 'error',
  code: 'workspace-invalid',
  summary: 'No manifest',
  detail: 'no file declares a domain',
  file: 'edgewise.yaml',
  ...atStart,
}

function nameCommit(number: number): string {
  return `${number}`.padStart(40, '0')
}

export function createWorkspace({
  config,
  desired,
  commit,
}: Pick<Run, 'config' | 'desired' | 'commit'>): LoadedWorkspace {
  const vault = new SecretVault(config.id, () => null)
  return {
    root: '/',
    config,
    desired,
    diagnostics: [],
    levels: {},
    judgeAll: (others) => ({ diagnostics: others, suppressed: [] }),
    files: [],
    findNoManifest: () => noManifest,
    policyFiles: [],
    exceptions: [],
    loadEarlier: async () => ({ reason: 'there is none' }),
    findDomainPlace: (domain) =>
      desired.has(domain) ? { ...atStart, file: `domains/${domain}.yaml` } : null,
    findDeclaredOwners: () => [],
    findItemPlace: () => null,
    findProfiles: () => [],
    findTextPlace: () => null,
    findTextSource: () => null,
    parseGiven: () => ({ items: new Map(), raw: {}, findings: [], findSource: () => null }),
    findTree: async () => ({ commit: commit === undefined ? null : nameCommit(commit) }),
    relateCommits: async (ids) =>
      new Map(ids.map((id) => [id, id > nameCommit(commit ?? 0) ? 'later' : 'contained'])),
    findOnlyChange: async () => null,
    findName: async () => 'edgewise.yaml',
    findSource: () => null,
    findSourceLine: () => null,
    explainMissing: () => 'none is configured',
    explainTokenFault: () => null,
    findUnmatchedGlobs: () => [],
    findWeakSecrets: () => [],
    vault,
    scrub: (text) => text,
    redact: (text) => text,
    buildProgramEnvironment: () => ({}),
  }
}
