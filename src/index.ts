import { resolve } from 'node:path'
import { applyPlan } from './apply/apply-plan.ts'
import type { ApplyEvent } from './apply/events.ts'
import type { ApplyContext, ApplyResult } from './apply/run.ts'
import { itemSpec } from './catalog/catalogue.ts'
import { readItem } from './catalog/read-item.ts'
import { diffSnapshots } from './diff/diff-snapshots.ts'
import { withKnownSecrets } from './diff/known-secrets.ts'
import { loadWorkspace as readWorkspace } from './manifest/load-workspace.ts'
import { secretLookUp, type SecretReach } from './manifest/secret-sources.ts'
import { SecretVault, withoutValue } from './manifest/secret-vault.ts'
import type { Workspace } from './manifest/workspace.ts'
import { EdgewiseError } from './model/edgewise-error.ts'
import { secretNames } from './model/secret-keeper.ts'
import { isUnresolved, mapSecrets } from './model/secret.ts'
import type { Snapshot } from './model/item.ts'
import type { Effort, Plan } from './model/plan.ts'
import type { Solver } from './plan/cover/dual-bound.ts'
import { makePlan } from './plan/make-plan.ts'
import { narrowed, type Selection } from './plan/selection.ts'
import { CallBudget, type Clock } from './service/call-budget.ts'
import { createClient } from './service/client.ts'
import { proxyDispatcher } from './service/proxy.ts'
import { overNetwork, type Transport } from './service/transport.ts'
import { callsAt, timesOf, type Times } from './state/calls.ts'
import type { Disk } from './state/disk.ts'
import { headOf, openGit } from './state/git-plumbing.ts'
import { gitEnvironment } from './state/git-process.ts'
import type { GitRepository } from './state/git-repository.ts'
import type { Lease, Machine } from './state/lock.ts'
import { openRecord as openRecordAt, type OpenRecord } from './state/open-record.ts'
import type { Recorded, Store } from './state/record.ts'

export { drift, observedBase, type FoundDrift } from './drift.ts'
export { EdgewiseError } from './model/edgewise-error.ts'
export type { ApplyResult } from './apply/run.ts'
export type { ApplyEvent } from './apply/events.ts'
export type { Workspace } from './manifest/workspace.ts'
export type { Change, Write } from './model/change.ts'
export type { Drift, DriftItem } from './model/drift.ts'
export type { Plan } from './model/plan.ts'
export { fleetOf, guardRefusals, type GuardInput, type GuardRefusal } from './plan/guards.ts'
export type { Diagnostic, Place } from './model/problem.ts'
export type { Selection } from './plan/selection.ts'
export type { Clock } from './service/call-budget.ts'
export type { Recorded, Store } from './state/record.ts'

/** The world outside: what a program may know and do. Handed in, so that tests and other hosts can choose. */
export interface Outside {
  env: Record<string, string | undefined>
  clock: Clock
  /** In [0, 1). */
  random(): number
  /** How calls get to the service, where not over this machine's network. */
  transport?: Transport
  machine: Machine
  disk: Disk
  /** The repository that a folder lies in; absent: by the program git of this machine. */
  openGit?(folder: string, remote: string): Promise<GitRepository | null>
}

/** A workspace with the secrets that may be known. */
export interface LoadedWorkspace extends Workspace {
  vault: SecretVault
  /** The commit that the manifests are at; null whenever git has no answer, since it is information only. */
  commit(): Promise<string | null>
}

/**
 * Reads a workspace: `edgewise.yaml`, profiles and manifests. Problems of manifests are in `diagnostics`.
 *
 * @param root the folder that holds `edgewise.yaml`
 * @param reach which secrets may be asked for
 * @throws EdgewiseError `not-a-workspace` or `invalid` when `edgewise.yaml` is missing or wrong
 */
export function loadWorkspace(root: string, outside: Outside, reach: SecretReach): LoadedWorkspace {
  let vault: SecretVault | undefined
  const workspace = readWorkspace(root, outside.env, (config) => {
    vault = new SecretVault(config.id, secretLookUp(root, config.secrets, outside.env, reach))
    return vault
  })
  refuseUnavailable(workspace)
  if (vault === undefined) throw new TypeError('expected the workspace to ask for a secret keeper')
  const env = gitEnvironment(outside.env, workspace.config.service.token)
  return Object.assign(workspace, { vault, commit: () => headOf(root, env) })
}

/**
 * Settings that the file format knows and this version does not carry out are refused: a health check that silently checks
 * nothing is worse than none.
 */
function refuseUnavailable({ config: { rollout } }: Workspace): void {
  const inWaves = rollout.health !== null || !(rollout.waves.length === 1 && rollout.waves.every(isWhole))
  const missing = inWaves ? ['rollout'] : []
  if (missing.length === 0) return
  const verb = missing.length === 1 ? 'is' : 'are'
  throw new EdgewiseError('unavailable', `${missing.join(', ')} in edgewise.yaml ${verb} not part of this version`, 'Leave it out.')
}

function isWhole(amount: { count: number } | { percent: number }): boolean {
  return 'percent' in amount && amount.percent >= 100
}

/**
 * Opens the record that belongs to a workspace's id and its service's address, and the lock of its account.
 *
 * @throws EdgewiseError `usage` when it is not clear where the record is, `unavailable` when git can't be used
 */
export async function openRecord({ root, config }: Workspace, outside: Outside): Promise<OpenRecord> {
  const { id, service, state } = config
  const env = gitEnvironment(outside.env, service.token)
  return openRecordAt(
    { root, id, address: service.url, account: service.account, state },
    {
      disk: outside.disk,
      process: outside.machine.process,
      openGit: outside.openGit ?? ((folder, remote) => openGit(folder, remote, env, () => outside.clock.now())),
    },
  )
}

/**
 * What would change, and the fewest writes found for it. Reads the record and the manifests, writes nothing.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error
 */
export async function plan(
  workspace: LoadedWorkspace,
  recorded: Recorded,
  selection: Selection,
  options: { effort?: Effort; explain?: boolean } = {},
): Promise<Plan> {
  const { config } = workspace
  if (workspace.diagnostics.some((diagnostic) => diagnostic.severity === 'error')) {
    throw new EdgewiseError('invalid', 'the manifests have errors', 'Run "edgewise validate".', workspace.diagnostics)
  }
  const { recorded: known, desired: wanted } = chosenSnapshots(workspace, recorded, selection)
  const difference = diffSnapshots(known, wanted)
  return makePlan({
    ...options,
    recorded: known,
    desired: wanted,
    ...difference,
    first: config.rollout.first,
    // One change is one write; the solver is large.
    ...(difference.changes.length > 1 ? { solver: await loadSolver() } : {}),
    grouping: config.grouping,
    limits: config.limits,
    target: [...selection.target],
    items: [...selection.items],
    commit: await workspace.commit(),
  })
}

/** Loads the solver of linear programmes, which proves how few writes a plan can have. It is large, so only who needs it does. */
export async function loadSolver(): Promise<Solver> {
  // The package's types call its default export a namespace.
  const { default: load } = (await import('highs')) as unknown as { default: () => Promise<Solver> }
  return load()
}

/** The chosen parts of what is recorded and what is desired; secrets that are not at hand count as recorded. */
export function chosenSnapshots(workspace: Workspace, recorded: Recorded, selection: Selection): { recorded: Snapshot; desired: Snapshot } {
  return { recorded: narrowed(recorded, selection), desired: narrowed(withKnownSecrets(workspace.desired, recorded), selection) }
}

/** How an apply is carried out. */
export interface ApplyOptions {
  outside: Outside
  lease: Lease
  /** When the lock was taken, wall clock, ms. */
  lockedAt: number
  /** Who started it, for the record's history. */
  author: string | null
  signal: AbortSignal
  isolate: boolean
  tell(event: ApplyEvent, budget: CallBudget): void
}

/**
 * Carries a plan out against the service (or the emulator, started for the time of the apply) and records every outcome.
 *
 * @throws EdgewiseError `access` when the token or a secret is not at hand; nothing was sent then
 */
export async function apply(
  workspace: LoadedWorkspace,
  planned: Plan,
  store: Store,
  recorded: Recorded,
  options: ApplyOptions,
): Promise<ApplyResult> {
  const { outside } = options
  const { config, vault } = workspace
  refuseUnready(workspace, planned)
  const { clock } = outside
  const id = applyId(outside)
  const { callsPerMinute, maxWaitSeconds } = config.limits
  const here = (): Times => ({ boot: outside.machine.boot, now: clock.now(), up: clock.monotonic() })
  const { calls, incomplete } = await store.loadCalls()
  // What an apply sent that was cut off elsewhere: no more than the rate allows.
  const unknown = Array.from({ length: incomplete ? callsPerMinute : 0 }, () => here().up)
  const earlier = [...timesOf(calls, here()), ...unknown]
  // Whoever comes next has to know of them too, even if nothing is sent now.
  if (earlier.length > 0) await store.saveCalls(id, callsAt(earlier, here()))
  const remember = (times: number[]) => store.saveCalls(id, callsAt(times, here()))
  const settleMs = config.service.settleSeconds * 1000
  const budget = new CallBudget(callsPerMinute, maxWaitSeconds * 1000, clock, earlier, remember, settleMs)
  const service = planned.writes.length === 0 ? null : await connect(workspace, outside)
  try {
    const context: ApplyContext = {
      store,
      client: service?.client ?? { write: () => Promise.reject(new TypeError('expected a plan without writes to send none')) },
      budget,
      clock,
      random: () => outside.random(),
      settleMs,
      timeoutMs: config.service.timeoutSeconds * 1000,
      isolate: options.isolate,
      leaseLeftMs: () => options.lease.leftMs(),
      apply: id,
      commit: planned.basis.commit,
      author: options.author,
      lockedAt: options.lockedAt,
      reveal: (payload) => vault.reveal(payload),
      mask: (item, value) => vault.mask(item, value),
      templatesOf: (value) => vault.templatesOf(value),
      signal: options.signal,
      tell: (event) => options.tell(event, budget),
    }
    return await applyPlan(planned, recorded, context)
  } finally {
    await service?.close()
  }
}

/**
 * Refuses a plan that can't be carried out as things stand, before anybody is asked and anything is sent.
 *
 * @throws EdgewiseError `access` when the token or the value of a secret is not at hand, `invalid` when a value is not valid
 */
export function refuseUnready({ config, vault }: LoadedWorkspace, planned: Plan): void {
  if (planned.writes.length === 0) return
  if (config.service.token === '' && config.service.url !== 'emulator') {
    throw new EdgewiseError(
      'access',
      `no token for ${config.service.url}`,
      'Set the environment variable that "service.token" in edgewise.yaml names (EDGEWISE_TOKEN).',
    )
  }
  refuseUnresolved(planned)
  refuseBadSecrets(planned, vault)
}

async function connect(workspace: LoadedWorkspace, outside: Outside) {
  const { config, root, vault } = workspace
  const { service } = config
  const inside = service.url === 'emulator'
  const token = inside ? service.token || 'emulator' : service.token
  if (token === '') {
    throw new EdgewiseError(
      'access',
      `no token for ${service.url}`,
      'Set the environment variable EDGEWISE_TOKEN, or "service.token" in edgewise.yaml.',
    )
  }
  const emulator = inside ? await startInside(root, config, outside) : null
  const transport = outside.transport ?? overNetwork(inside ? undefined : await proxyDispatcher(outside.env))
  const client = createClient({
    url: emulator?.url ?? service.url,
    token,
    timeoutMs: service.timeoutSeconds * 1000,
    itemKeys: service.itemKeys,
    scrub: (text) => vault.scrub(withoutValue(text, token, '(token)')),
    transport,
  })
  return { client, close: async () => emulator?.close() }
}

/** The emulator that `service.url: emulator` asks for. It keeps what it is told beside the workspace. */
async function startInside(root: string, config: Workspace['config'], outside: Outside) {
  const { startEmulator } = await import('./emulator/emulator.ts')
  let calls = 0
  return startEmulator(
    {
      token: null,
      domains: null,
      callsPerMinute: config.limits.callsPerMinute,
      itemKeys: config.service.itemKeys,
      control: false,
      lenient: false,
      limitStyle: 'status',
      seed: config.id,
      timezone: config.service.timezone,
      deadOrigins: [],
      faults: [],
      dataFile: resolve(root, '.edgewise', 'emulator.json'),
      now: () => outside.clock.now(),
      requestId: () => `${outside.clock.now().toString(36)}-${++calls}`,
    },
    { host: '127.0.0.1', port: 0 },
  )
}

function refuseUnresolved({ writes }: Plan): void {
  const names = new Set<string>()
  for (const write of writes) {
    for (const form of Object.values(write.items)) {
      mapSecrets(form.payload, (secret) => {
        if (isUnresolved({ $secret: secret })) for (const name of namesIn(secret.slice('unresolved:'.length))) names.add(name)
        return null
      })
    }
  }
  if (names.size === 0) return
  const list = [...names].toSorted().join(', ')
  throw new EdgewiseError(
    'access',
    `the plan writes secrets whose values are not at hand: ${list}`,
    'Provide them as edgewise.yaml says under "secrets".',
  )
}

/** The names in what an unresolved secret was made from: a name, or a template around names. */
function namesIn(reference: string): string[] {
  const names = secretNames(reference)
  return names.length === 0 ? [reference] : names
}

/** Values of secrets are checked only now that they are known; what they are is not told. */
function refuseBadSecrets({ writes }: Plan, vault: SecretVault): void {
  for (const write of writes) {
    for (const [item, form] of Object.entries(write.items)) {
      let holds = false
      mapSecrets(form.payload, (secret) => {
        holds = true
        return { $secret: secret }
      })
      if (!holds) continue
      const [problem] = readItem(itemSpec(item), vault.reveal(form.payload), 'wire', write.domains[0] ?? '').problems
      if (problem === undefined) continue
      const names = Object.values(vault.templatesOf(form.payload)).join(', ') || 'written out in the manifest'
      throw new EdgewiseError(
        'invalid',
        `with the value of its secret (${names}) the item ${item} of ${write.domains[0] ?? ''} is not valid at ${problem.pointer || '/'}`,
        `See "edgewise explain ${item}" for what is expected there.`,
      )
    }
  }
}

/** Sortable by time, and different for two applies of one second. */
function applyId(outside: Outside): string {
  const stamp = new Date(outside.clock.now()).toISOString().replace(/[-:]|\.\d+/g, '')
  return `${stamp}-${Math.floor(outside.random() * 0x10000)
    .toString(16)
    .padStart(4, '0')}`
}
