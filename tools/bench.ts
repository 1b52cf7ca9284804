/**
 * Measures how fast and how small Edgewise is: one table with each figure, its goal and whether it
 * is met. Exits with 1 if a goal is missed or a figure with a goal is not measured.
 *
 * `--only NAME,…` measures some groups; those in bench/studies.ts run only so, and some print
 * tables of their own before. `--json [FILE]` prints or writes JSON, `--scale` adds 100,000
 * domains. `--small` measures only ratios that hold on a busy machine, and compares them with the
 * kept ones; `--keep` keeps them instead. The other options are those of studies.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseBenchArgs, type BenchOptions } from './bench/arguments.ts'
import { groups, measureSmall } from './bench/groups.ts'
import { findWorse, keepRatios, type KeptRatios } from './bench/kept-ratios.ts'
import { chooseBetter, formatRows, isMissed, judge, type Row } from './bench/row.ts'
import { studies } from './bench/studies.ts'
import { MissingError } from './bench/terraform.ts'
import { Workbench } from './bench/workbench.ts'

const ratiosFile = new URL('bench/ratios.json', import.meta.url)
const major = Number(process.versions.node.split('.')[0])
const options = readOptions()
const from = performance.now()
const bench = new Workbench()

try {
  if (options.small) await compareSmall()
  else await measureAll()
} catch (error) {
  if (!(error instanceof MissingError)) throw error
  console.error(error.message)
  process.exitCode = 2
} finally {
  bench.end()
}

function readOptions(): BenchOptions {
  try {
    return parseBenchArgs(process.argv.slice(2), Object.keys(groups), Object.keys(studies))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    console.error(error.message)
    process.exit(2)
  }
}

async function measureAll(): Promise<void> {
  const rows: Row[] = []
  for (const name of options.only)
    rows.push(...((await studies[name]?.(bench, options)) ?? (await measureTwice(name))))
  report(rows)
  if (rows.some(isMissed)) process.exitCode = 1
}

/** Measures a group again if a goal was missed: the machine may have been disturbed. */
async function measureTwice(name: string): Promise<Row[]> {
  const measure = () => groups[name]?.({ ...options, bench }) ?? []
  const rows = await measure()
  if (!rows.some((row) => judge(row) === 'short') || options.scale) return rows
  return chooseBetter(rows, await measure())
}

async function compareSmall(): Promise<void> {
  const kept = JSON.parse(readFileSync(ratiosFile, 'utf8')) as KeptRatios
  let rows = measureSmall(bench)
  if (!options.keep && findWorse(kept, major, rows).length > 0)
    rows = chooseBetter(rows, measureSmall(bench))
  report(rows)
  if (options.keep) {
    writeFileSync(ratiosFile, `${JSON.stringify(keepRatios(kept, major, rows), null, 2)}\n`)
    return
  }
  for (const worse of findWorse(kept, major, rows)) {
    console.error(worse)
    process.exitCode = 1
  }
}

function report(rows: Row[]): void {
  const machine = describeMachine()
  const seconds = Math.round((performance.now() - from) / 1000)
  const results = rows.map((row) => ({ ...row, result: judge(row) }))
  const json = `${JSON.stringify({ machine, seconds, rows: results }, null, 2)}\n`
  if (options.json === '-') process.stdout.write(json)
  else console.log(`${machine}\n\n${formatRows(rows)}\n\nMeasured in ${seconds} s.`)
  if (options.json !== null && options.json !== '-') writeFileSync(options.json, json)
}

/** Describes this machine in a line: cores, Node, the load before, and the date. */
function describeMachine(): string {
  const cores = cpus()
  const [load = 0] = loadavg()
  return (
    `${cores.length} cores (${cores[0]?.model ?? 'unknown'}), Node ${process.versions.node}, ` +
    `load ${load.toFixed(1)}, ${new Date().toISOString().slice(0, 10)}`
  )
}
