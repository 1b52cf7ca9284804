import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../../../src/core/model/json.ts'
import type { Ended, RealRuns } from '../real-runs.ts'
import { findStateFaults, listConfirmed, type Actual } from './checks.ts'
import type { Gate } from './gate.ts'
import type { Tally } from './tally.ts'

const apply = ['apply', '--yes', '--json', '--lock-timeout', '900']

/** What a workspace of the run has. */
interface ChaosDomains {
  domains: string[]
  /** Selects its domains, if another process has others of the same workspace; null: all. */
  target: string | null
  /** Domains of a manifest with one configuration. */
  block: number
  /** Numbers all configurations, so that no two are the same. */
  number: number
}
/** Time in which the calls that follow the first one have left the process, ms. */
const leaveMs = 600

/** A workspace whose applies are killed and suspended, and started until they succeed. */
export class ChaosWorkspace {
  readonly real: RealRuns
  readonly domains: string[]
  /** Options that select its domains. */
  readonly selection: string[]
  readonly #block: number
  readonly #tally: Tally
  readonly #number: number
  readonly #gate: Gate
  #round = 0
  /** The apply that may be killed. */
  #child: ChildProcess | null = null
  /** All applies that run, or are suspended. */
  readonly #children = new Set<ChildProcess>()
  /** Number of writes that were printed as confirmed so far. */
  printed = 0
  /** Whether that apply has begun to send calls. */
  isSending = false
  /** Whether state was forgotten, and no apply has succeeded since. */
  hasForgotten = false
  /** Names of the writes that were printed as confirmed. */
  readonly confirmed: string[] = []

  constructor(
    real: RealRuns,
    { domains, target, block, number }: ChaosDomains,
    tally: Tally,
    gate: Gate,
  ) {
    this.#gate = gate
    this.real = real
    this.domains = domains
    this.selection = target === null ? [] : ['--target', target]
    this.#block = block
    this.#number = number
    this.#tally = tally
  }

  /** What the service must have in the end. */
  listDesired(): [string, Record<string, Json>][] {
    return this.domains.map((domain, i) => [
      domain,
      this.#createConfig(Math.floor(i / this.#block)),
    ])
  }

  /** Applies the configuration of another round. */
  async reach(round: number): Promise<void> {
    this.#writeRound(round)
    await this.#applyToEnd()
  }

  /**
   * Suspends an apply of a round with calls in flight, removes its lock, applies the next round,
   * and resumes it: what it then records must not replace what is recorded since.
   */
  async reachSuspended(round: number): Promise<void> {
    this.#writeRound(round)
    const { child, ended } = await this.#gate.run(async () => this.#spawn())
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', (text) => String(text).includes('write.started') && resolve())
      child.once('close', () => resolve())
    })
    await sleep(leaveMs)
    const hasLock = () => child.exitCode === null && child.signalCode === null
    if (hasLock()) child.kill('SIGSTOP')
    const isSuspended = hasLock()
    try {
      await this.#gate.run(async () => hasLock() && this.#unlock())
      await this.reach(round + 1)
    } finally {
      child.kill('SIGCONT')
    }
    const { out, code, err } = await ended
    this.#tally.applies++
    this.confirmed.push(...listConfirmed(out))
    if (isSuspended) this.#tally.suspended++
    if (isSuspended && code === 0)
      this.#tally.blame(this.real.id, [`a suspended apply ended with 0\n${out}${err}`])
    await this.#gate.run(() => this.compare())
    await this.#applyToEnd()
  }

  /** Tries to manage a domain that another workspace wants, too; returns whether it does. */
  async contest(domain: string): Promise<boolean> {
    const block = Math.floor(this.domains.length / this.#block)
    this.real.manifest(domain, this.#createConfig(block))
    const { out } = await this.#applyToEnd(/owned-elsewhere/)
    if (!/owned-elsewhere/.test(out)) {
      this.domains.push(domain)
      return true
    }
    rmSync(join(this.real.sandbox.folder, 'clone', 'domains', `${domain}.yaml`))
    await this.#applyToEnd()
    return false
  }

  /** Kills the apply; returns whether there was one. */
  kill(): boolean {
    return this.#child?.kill('SIGKILL') ?? false
  }

  /** Kills all applies, also a suspended one. */
  killAll(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  /** Compares the state with what the service has; nothing of the workspace may run. */
  async compare(): Promise<void> {
    this.#tally.comparisons++
    this.#tally.blame(this.real.id, await this.findFaults(this.hasForgotten))
  }

  /**
   * Lists where the state claims what the service does not have.
   *
   * @param mayLack whether state may lack items that the service has
   */
  async findFaults(mayLack: boolean): Promise<string[]> {
    const recorded = await this.real.loadRecorded()
    const { domains: actual } = await this.real.look<{ domains: Actual }>('state')
    for (const domain of this.domains)
      for (const { status } of recorded.get(domain)?.values() ?? [])
        if (status === 'in-doubt') this.#tally.inDoubt++
    return findStateFaults(this.domains, recorded, actual, mayLack)
  }

  /** Lists those of its domains that have recorded state. */
  async listRecorded(): Promise<string[]> {
    const recorded = await this.real.loadRecorded()
    return this.domains.filter((domain) => recorded.has(domain))
  }

  /** Applies until an apply succeeds, or prints something expected. */
  async #applyToEnd(expected?: RegExp): Promise<Ended> {
    for (;;) {
      const end = await this.#gate.run(() => this.#apply())
      this.#tally.applies++
      this.confirmed.push(...listConfirmed(end.out))
      if (end.code === 0) this.hasForgotten = false
      if (end.code === 0 || expected?.test(end.out) === true) return end
      await this.#gate.run(() => this.compare())
      if (end.signal === 'SIGKILL') continue
      throw new Error(`${this.real.id}: an apply ended with ${end.code}\n${end.out}${end.err}`)
    }
  }

  async #apply(): Promise<Ended> {
    const { child, ended } = this.#spawn()
    this.#child = child
    child.stdout?.on('data', (text) => (this.isSending ||= String(text).includes('write.started')))
    const end = await ended
    this.#child = null
    this.isSending = false
    return end
  }

  #spawn(): ReturnType<RealRuns['spawn']> {
    const spawned = this.real.spawn([...apply, ...this.selection])
    const { child } = spawned
    this.#children.add(child)
    child.once('close', () => this.#children.delete(child))
    child.stdout?.on('data', (text) => {
      this.printed += String(text).split('"write.confirmed"').length - 1
    })
    return spawned
  }

  /** Removes the lock of an apply that is suspended. */
  async #unlock(): Promise<void> {
    const [domain = ''] = this.domains
    const args = ['state', 'unlock', domain, '--force', '--yes']
    const { code, out, err } = await this.real.run(args)
    if (code !== 0) throw new Error(`expected to remove the lock, got ${code}\n${out}${err}`)
  }

  #writeRound(round: number): void {
    this.#round = round
    for (const [domain, config] of this.listDesired()) this.real.manifest(domain, config)
  }

  #createConfig(block: number): Record<string, Json> {
    const [round, number] = [this.#round, this.#number]
    return {
      timeout: { time: String(5 + ((round * 60 + block) % 290)) },
      ip_black_list: { list: [`10.${round}.${number}.${block}`], mode: 'cover' },
    }
  }
}
