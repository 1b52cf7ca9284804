import { basename } from 'node:path'
import { isSameJson } from '../../../src/core/model/json.ts'
import { startOwnPostgres, type CrashingServer } from '../../postgres-server.ts'
import { Chance } from '../../simulation/chance.ts'
import { RealRuns } from '../real-runs.ts'
import { startAnswerThief } from './answer-thief.ts'
import { ChaosWorkspace } from './chaos-workspace.ts'
import {
  findFalseReports,
  findRateFaults,
  findRefusedCalls,
  type Actual,
  type ListedCall,
  type Rate,
} from './checks.ts'
import { disturb, query, type Disturbances } from './disturb.ts'
import { Gate } from './gate.ts'
import { SetBack, type SetBackOptions } from './set-back.ts'
import { Tally } from './tally.ts'

/** Size of a run, and what happens in it. */
export interface ChaosOptions {
  seed: string
  accounts: number
  /** Workspaces of each account. */
  workspaces: number
  /** Accounts with one workspace only, of which each process applies other domains. */
  targeted: number
  /** Domains of each account. */
  domains: number
  domainsPerWrite: number
  /** Configurations that each workspace applies one after the other. */
  rounds: number
  /** Accounts that have an apply suspended. */
  suspensions: number
  perMinute: number
  burst: Rate
  disturbances: Disturbances
  setBack: SetBackOptions
  /** Share of transactions whose answer is lost. */
  lostAnswers: number
  /** After this time the run has failed, s. */
  maxSeconds: number
}

const schema = 'chaos'
/** Duration of a call, ms: long enough to be killed in it, and suspended. */
const callMs = 1000

/**
 * Applies with several accounts and workspaces at the same time to state in a real PostgreSQL
 * server, kills, suspends and cuts all of them, and compares state, services and call rates.
 *
 * @param report called with progress
 */
export async function runChaos(
  options: ChaosOptions,
  report: (line: string) => void,
): Promise<Tally> {
  const tally = new Tally()
  const started = performance.now()
  const server = await startOwnPostgres(true)
  const accounts: ChaosWorkspace[][] = []
  let proxy: Awaited<ReturnType<typeof startAnswerThief>> | null = null
  const gate = new Gate()
  const [ended, deadline] = [new AbortController(), new AbortController()]
  const timer = setTimeout(() => deadline.abort(), options.maxSeconds * 1000)
  try {
    if ('failure' in server.served) throw new Error(server.served.failure)
    const chance = new Chance(`chaos ${options.seed}`)
    const thefts = chance.fork('thefts')
    const takes = () => !ended.signal.aborted && thefts.happens(options.lostAnswers)
    const { url } = (proxy = await startAnswerThief(server.served.url, takes, () => tally.lost++))
    const database = { url, schema }
    for (let account = 0; account < options.accounts; account++)
      accounts.push(await createAccount(account, options, database, tally, gate))
    const all = accounts.flat()
    const disturbing = disturb(all, server, options.disturbances, chance, tally, gate, ended.signal)
    const late = new Promise<never>((_, reject) => {
      const fail = () => reject(new Error(`not at the end after ${options.maxSeconds} s`))
      deadline.signal.addEventListener('abort', fail)
    })
    const ticker = setInterval(() => report(describeSoFar(tally, started)), 30_000)
    const setBack = new SetBack(
      { workspaces: all, server, schema, gate, tally, signal: ended.signal },
      options.setBack,
      countWrites(all, options),
    )
    const working = Promise.all(accounts.map((each, i) => work(each, i, options, setBack, tally)))
    try {
      const failing = [disturbing, setBack.done].map((each) => each.then(() => working))
      await Promise.race([working, ...failing, late])
    } finally {
      clearInterval(ticker)
      ended.abort()
      await Promise.all([disturbing, setBack.done])
    }
    for (const account of accounts) await checkAccount(account, options, tally)
    tally.blame('owners', await findSharedDomains(server))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    tally.blame('run', [error.message])
  } finally {
    clearTimeout(timer)
    for (const each of accounts.flat()) each.real.end()
    await server.stop()
    await proxy?.close()
  }
  tally.seconds = Math.round((performance.now() - started) / 1000)
  return tally
}

function describeSoFar(tally: Tally, started: number): string {
  tally.seconds = Math.round((performance.now() - started) / 1000)
  return tally.describe()
}

/** Counts the writes of all rounds: those of two items, which no write has together. */
function countWrites(all: ChaosWorkspace[], { domainsPerWrite, rounds }: ChaosOptions): number {
  return all.reduce(
    (sum, { domains }) => sum + 2 * Math.ceil(domains.length / domainsPerWrite) * rounds,
    0,
  )
}

async function createAccount(
  account: number,
  { workspaces, targeted, domains, domainsPerWrite, perMinute, burst }: ChaosOptions,
  database: { url: string; schema: string },
  tally: Tally,
  gate: Gate,
): Promise<ChaosWorkspace[]> {
  const first = await RealRuns.start(
    ['--calls-per-minute', String(perMinute), { kind: 'delay', ms: callMs }],
    database,
  )
  const created: ChaosWorkspace[] = []
  for (let i = 0; i < workspaces; i++) {
    const id = account < targeted ? `account-${account}` : `account-${account}-workspace-${i}`
    const real = await first.share(id)
    const rate = `callsPerMinute: ${perMinute}, burst: ${burst.calls} per ${burst.seconds}s`
    real.workspace(`limits: {${rate}, domainsPerWrite: ${domainsPerWrite}}`)
    const own = Array.from(
      { length: Math.floor(domains / workspaces) },
      (_, n) => `d${n}.w${i}.a${account}.example.com`,
    )
    const number = account * workspaces + i
    const target = account < targeted ? `*.w${i}.a${account}.example.com` : null
    const its = { domains: own, target, block: domainsPerWrite, number }
    created.push(new ChaosWorkspace(real, its, tally, gate))
  }
  first.sandbox.remove()
  return created
}

/**
 * Lets the workspaces of an account apply all rounds, and then contest a domain if they are
 * several: a back-up of before would not know its owner.
 */
async function work(
  workspaces: ChaosWorkspace[],
  account: number,
  { rounds, suspensions, targeted }: ChaosOptions,
  setBack: SetBack,
  tally: Tally,
): Promise<void> {
  await Promise.all(
    workspaces.map(async (workspace, i) => {
      const isSuspended = i === 0 && account < suspensions
      const first = isSuspended ? 3 : 1
      if (isSuspended) await workspace.reachSuspended(1)
      for (let round = first; round <= rounds; round++) {
        await workspace.reach(round)
        if (round < rounds) await setBack.afterRound(workspace)
      }
    }),
  )
  await setBack.done
  // The restore may come when all rounds of a workspace that forgets its state are done.
  const forgetful = workspaces.filter(({ hasForgotten }) => hasForgotten)
  await Promise.all(forgetful.map((workspace) => workspace.reach(rounds)))
  if (account < targeted) return
  const domain = `contested.a${account}.example.com`
  const won = await Promise.all(workspaces.map((workspace) => workspace.contest(domain)))
  tally.contested++
  const winners = won.filter(Boolean).length
  if (winners !== 1) tally.blame(domain, [`expected one workspace to have it, got ${winners}`])
}

async function checkAccount(
  workspaces: ChaosWorkspace[],
  { perMinute, burst }: ChaosOptions,
  tally: Tally,
): Promise<void> {
  const [{ real }] = workspaces as [ChaosWorkspace]
  const listed = await real.look<ListedCall[]>('calls')
  const calls = listed.filter(({ path }) => path === '/v2/domain/config')
  const { domains: actual } = await real.look<{ domains: Actual }>('state')
  const times = calls.map(({ time }) => time)
  tally.calls += calls.length
  for (const rate of [{ calls: perMinute, seconds: 60 }, burst]) {
    tally.windows += times.length
    tally.blame(real.id, findRateFaults(times, rate))
  }
  tally.blame(real.id, findRefusedCalls(calls))
  const confirmed = workspaces.flatMap((workspace) => workspace.confirmed)
  tally.blame(real.id, findFalseReports(confirmed, calls))
  const desired = new Map(workspaces.flatMap((workspace) => workspace.listDesired()))
  for (const domain of new Set([...desired.keys(), ...Object.keys(actual)])) {
    const [want, got] = [desired.get(domain) ?? null, actual[domain] ?? null]
    if (!isSameJson(want, got))
      tally.blame(domain, [`is ${JSON.stringify(got)}; expected ${JSON.stringify(want)}`])
  }
  for (const workspace of workspaces) await checkWorkspace(workspace, tally)
}

async function checkWorkspace(workspace: ChaosWorkspace, tally: Tally): Promise<void> {
  const { real, domains, selection } = workspace
  const plan = await real.run(['plan', '--detailed-exitcode', ...selection])
  if (plan.code !== 0)
    tally.blame(real.id, [`its plan ends with ${plan.code}\n${plan.out}${plan.err}`])
  const { out } = await real.run(['state', 'list', '--json'])
  const { domains: list } = JSON.parse(out) as { domains: { domain: string; inDoubt: number }[] }
  const names = new Set(list.map(({ domain }) => domain))
  const missing = domains.filter((domain) => !names.has(domain))
  if (missing.length > 0 || (selection.length === 0 && names.size > domains.length))
    tally.blame(real.id, [`state list has ${names.size} domains; expected ${domains.length}`])
  for (const { domain, inDoubt } of list)
    if (inDoubt > 0) tally.blame(domain, [`${inDoubt} items are in-doubt in the end`])
  await workspace.compare()
}

/** Lists domains that two workspaces have in their state. */
async function findSharedDomains(server: CrashingServer): Promise<string[]> {
  const rows = await query(server, `select path from ${schema}.files where path like '%/domains/%'`)
  const homes = new Map<string, string>()
  return rows.flatMap(({ path }) => {
    const [home = ''] = String(path).split('/domains/')
    const name = basename(String(path))
    const other = homes.get(name)
    homes.set(name, home)
    return other === undefined ? [] : [`${name} is in ${other} and ${home}`]
  })
}
