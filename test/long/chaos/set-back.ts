import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, parseJson } from '../../../src/core/model/json.ts'
import type { CrashingServer } from '../../postgres-server.ts'
import { backUp, restore, type BackUp } from './back-up.ts'
import type { Actual } from './checks.ts'
import type { ChaosWorkspace } from './chaos-workspace.ts'
import { query } from './disturb.ts'
import type { Gate } from './gate.ts'
import type { Tally } from './tally.ts'

const waits = ['--lock-timeout', '60']

/** When state is set back, and how long nothing runs then. */
export interface SetBackOptions {
  /** Share of the writes of the run that are confirmed before. */
  restoreAt: number
  /** Time in which calls land, and the calls before the restore no longer count, s. */
  calmSeconds: number
  /** Number of workspaces that forget their state; the others import what the service has. */
  forgetful: number
}

/** What a run has. */
interface ChaosRun {
  workspaces: ChaosWorkspace[]
  server: CrashingServer
  schema: string
  gate: Gate
  tally: Tally
  signal: AbortSignal
}

/**
 * Takes back-ups while applies run, later stops all of them, restores one, and does what
 * docs/guides/many-repositories.md says, "Back-up": then no state may be untrue.
 */
export class SetBack {
  /** Ends with the restore, or with the run. */
  readonly done: Promise<void>
  /** Back-ups after a round of a workspace, and the writes that it had printed as confirmed. */
  readonly #taken: { copy: BackUp; workspace: ChaosWorkspace; printed: number }[] = []
  readonly #run: ChaosRun

  /** @param writes number of writes of the whole run */
  constructor(run: ChaosRun, options: SetBackOptions, writes: number) {
    this.#run = run
    this.done = this.#restoreOnce(options, writes)
  }

  /** Takes a back-up before a workspace continues with its next round. */
  async afterRound(workspace: ChaosWorkspace): Promise<void> {
    const copy = await backUpAmidCrashes(this.#run.server, this.#run.schema)
    this.#taken.push({ copy, workspace, printed: workspace.printed })
  }

  async #restoreOnce(options: SetBackOptions, writes: number): Promise<void> {
    const { restoreAt, calmSeconds, forgetful } = options
    const { workspaces, server, schema, gate, signal } = this.#run
    const count = () => workspaces.reduce((sum, { printed }) => sum + printed, 0)
    // A back-up is old once its workspace has changed at the service what it has as confirmed.
    const findOld = () => this.#taken.find(({ workspace, printed }) => workspace.printed > printed)
    while (findOld() === undefined || count() < restoreAt * writes) {
      if (signal.aborted) return
      await sleep(50)
    }
    gate.close()
    try {
      while (gate.running > 0) {
        for (const workspace of workspaces) workspace.killAll()
        await sleep(20)
      }
      await sleep(calmSeconds * 1000)
      await restore(server, schema, findOld()?.copy ?? new Map())
      await mendAll(this.#run, forgetful)
    } finally {
      gate.open()
    }
  }
}

/** Accepts the restored state, and makes it true. */
async function mendAll({ workspaces, server, tally }: ChaosRun, forgetful: number): Promise<void> {
  const found = await Promise.all(
    workspaces.map((workspace, i) =>
      findStatement(workspace, i % 2 === 0 ? 'plan' : 'apply', tally),
    ),
  )
  for (const statement of new Set(found)) if (statement !== '') await query(server, statement)
  for (const workspace of workspaces) tally.setBack += (await workspace.findFaults(true)).length
  if (tally.setBack === 0) tally.blame('restore', ['expected the back-up to have older state'])
  await Promise.all(
    workspaces.map((workspace, i) => mend(workspace, i >= 1 && i <= forgetful, tally)),
  )
  tally.restored++
}

/** Takes a back-up; the server may crash meanwhile. */
async function backUpAmidCrashes(server: CrashingServer, schema: string): Promise<BackUp> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await backUp(server, schema)
    } catch (error) {
      if (attempt === 100) throw error
      await sleep(200)
    }
  }
}

/** Expects the restored state to be refused; returns the statement that accepts it. */
async function findStatement(
  { real }: ChaosWorkspace,
  command: string,
  tally: Tally,
): Promise<string> {
  const { code, out } = await real.run([command, '--yes', '--json'])
  const error = parseJson(out)
  const hint = isObject(error) && error['code'] === 'state-rewound' ? String(error['hint']) : ''
  const statement = /^ *(update .*;)$/m.exec(hint)?.[1] ?? ''
  if (code !== 1 || statement === '')
    tally.blame(real.id, [`${command} after a restore ended with ${code}: ${out}`])
  return statement
}

/** Makes restored state true: records what the service has, or forgets all domains. */
async function mend(workspace: ChaosWorkspace, forgets: boolean, tally: Tally): Promise<void> {
  const { real } = workspace
  const run = async (codes: number[], ...args: string[]) => {
    const { code, out, err } = await real.run(args)
    if (!codes.includes(code ?? -1))
      tally.blame(real.id, [`${args.join(' ')} ended with ${code}\n${out}${err}`])
  }
  if (forgets) {
    const domains = await workspace.listRecorded()
    if (domains.length > 0) await run([0], 'state', 'forget', ...domains, '--yes', ...waits)
    workspace.hasForgotten = true
    const left = await workspace.listRecorded()
    if (left.length > 0) tally.blame(real.id, [`has state of ${left.length} forgotten domains`])
    return
  }
  const { domains } = await real.look<{ domains: Actual }>('state')
  if (!workspace.domains.some((domain) => domain in domains)) return workspace.compare()
  const observed = join(real.sandbox.folder, 'observed.json')
  writeFileSync(observed, JSON.stringify(domains))
  await run([0, 2], 'drift', '--observed', observed)
  await run([0], 'import', observed, '--replace', '--yes', ...waits)
  await workspace.compare()
}
