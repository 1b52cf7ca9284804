import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchOptions } from './arguments.ts'
import { writeFleet } from './fleet.ts'
import type { Cost } from './measure.ts'
import { createRow, type Row } from './row.ts'
import { findProvider, howToCompare, prepareTerraform, type Provider } from './terraform.ts'
import type { Workbench } from './workbench.ts'

/** What each tool does in turn; the state from before is that of the tool. */
const steps = {
  create: 'create',
  plan: 'plan from state, no changes',
  query: 'compare with the service, no changes',
  change: 'change an item of one domain',
  remove: 'remove all',
}
type Step = keyof typeof steps
type Figures = Cost & { calls: number }
type Tool = Record<Step, { prepare?(): void; run(): Cost; times?: number }>

/** The plans are short: they run so often, and count as one. */
const times = 3
/** Of the calls, the emulator lists the last ones. */
const maxCalls = 10_000
const items = ['https', 'timeout', 'connect_timeout', 'origin', 'origin_host', 'ip_black_list']

/**
 * Measures calls, wall and CPU time of Edgewise with a small fleet, on an extended emulator without
 * a call rate, beside those of a provider of Terraform if the environment names one: see
 * `howToCompare`. Its module should configure the items of `fleet.ts`.
 *
 * @throws MissingError if what the environment names is not there
 */
export async function measurePeers(
  bench: Workbench,
  { domains }: BenchOptions,
  environment: NodeJS.ProcessEnv,
): Promise<Row[]> {
  const provider = findProvider(environment)
  if (provider === null) console.error(`${howToCompare}\n`)
  const rows: Row[] = []
  for (const size of domains === null ? [1, 10, 50] : [domains]) {
    const own = await measureTool(bench, (url) => prepareEdgewise(bench, url, size))
    const other =
      provider === null
        ? null
        : await measureTool(bench, (url) => prepareProvider(bench, provider, url, size))
    for (const step of Object.keys(steps) as Step[])
      rows.push(...buildRows(step, size, own[step], other?.[step]))
  }
  return rows
}

/** Measures all steps of a tool in turn, on an emulator of its own. */
async function measureTool(
  bench: Workbench,
  prepare: (url: string) => Tool,
): Promise<Record<Step, Figures>> {
  const { url, child } = await bench.startEmulator('--extended')
  const tool = prepare(url)
  const figures: Partial<Record<Step, Figures>> = {}
  for (const step of Object.keys(steps) as Step[]) {
    const { prepare: change, run, times: repeated = 1 } = tool[step]
    change?.()
    const before = await countCalls(url)
    const cost = run()
    figures[step] = { ...cost, calls: ((await countCalls(url)) - before) / repeated }
  }
  child.kill()
  return figures as Record<Step, Figures>
}

async function countCalls(url: string): Promise<number> {
  // The emulator closes a kept connection while this process waits for a tool.
  const answer = await fetch(`${url}/_emulator/calls`, { headers: { Connection: 'close' } })
  const { length } = (await answer.json()) as unknown[]
  if (length < maxCalls) return length
  throw new Error(`the tool sent ${maxCalls} calls or more, which can't be counted`)
}

function prepareEdgewise(bench: Workbench, url: string, size: number): Tool {
  const folder = bench.makeFolder('peers')
  const service = `service: {url: "${url}", readBack: true, unset: true}`
  const limits = 'limits: {callsPerMinute: 100000, readsPerMinute: 100000}'
  writeFleet(folder, size, `${service}\n${limits}\nstate: {store: dir}`)
  const manifests = Array.from({ length: size }, (_, i) => join(folder, 'domains', `d${i}.yaml`))
  const apply = () =>
    bench.edgewise(folder, ['apply', '--yes', '--allow', 'https', '--allow', 'origin'])
  const edgewise = (...args: string[]) => bench.edgewise(folder, args, { times })
  const change = () => {
    const [first = ''] = manifests
    const text = readFileSync(first, 'utf8')
    writeFileSync(first, text.replace('config:\n', 'config:\n  timeout: {time: 61}\n'))
  }
  const remove = () => {
    const config = items.map((item) => `  ${item}: {$unset: true}\n`).join('')
    for (const [i, file] of manifests.entries())
      writeFileSync(file, `domain: d${i}.example.com\nconfig:\n${config}`)
  }
  return {
    create: { run: apply },
    plan: { run: () => edgewise('plan', '--detailed-exitcode'), times },
    query: { run: () => edgewise('drift', '--live'), times },
    change: { prepare: change, run: apply },
    remove: { prepare: remove, run: apply },
  }
}

function prepareProvider(bench: Workbench, provider: Provider, url: string, size: number): Tool {
  const domains = Array.from({ length: size }, (_, i) => `d${i}.example.com`)
  const { use, run } = prepareTerraform(bench, provider, url, domains)
  const plan = (...args: string[]) => ({ run: () => run(['plan', ...args], times), times })
  const apply = () => run(['apply', '-auto-approve'])
  return {
    create: { prepare: () => use('create'), run: apply },
    plan: plan('-refresh=false'),
    query: plan(),
    change: { prepare: () => use('change'), run: apply },
    remove: { run: () => run(['destroy', '-auto-approve']) },
  }
}

/** Builds the rows of a step; their base is the provider. */
function buildRows(step: Step, size: number, own: Figures, other?: Figures): Row[] {
  const what = `${steps[step]}, ${size} ${size === 1 ? 'domain' : 'domains'}`
  return (['calls', 'wall', 'cpu'] as const).map((figure) => {
    const name = { calls: 'calls', wall: 'wall time', cpu: 'CPU' }[figure]
    const unit = figure === 'calls' ? '' : 's'
    const row = createRow(`peers-${step}-${size}-${figure}`, `${what}: ${name}`, unit, own[figure])
    if (other === undefined) return row
    const base = other[figure]
    const compared = { ...row, base, ratio: base === 0 ? null : own[figure] / base }
    const isEmpty = !['plan', 'query'].includes(step) || other.output.includes('No changes')
    return isEmpty ? compared : { ...compared, note: 'the plan of the provider has changes' }
  })
}
