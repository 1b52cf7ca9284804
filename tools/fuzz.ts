/**
 * Runs the operations on mutated inputs: sources, plan files, state files, answers of the service,
 * observed configurations, imports, environments and requests of the library. `--seconds S` (60)
 * and `--seed N` (1) choose the run; `--only KIND:NUMBER` replays one case and prints its input.
 * Prints the cases of each kind, and the failures: stack traces, hangs, wrong acceptances. Exits
 * with 1 if there are any.
 *
 * `--bombs` runs the built program instead, on inputs of up to 5 MB whose work could explode, and
 * prints the time and memory of the worst. More than 10 s or 1 GB is a failure.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { runBombs, type BombRun } from '../test/fuzz/bombs/run-bombs.ts'
import { runFuzz } from '../test/fuzz/run-fuzz.ts'
import { describeSeconds, parseOptions } from './launch.ts'

const { seconds, seed, ...values } = parseOptions({ seconds: 60, seed: 1 }, ['bombs'], ['only'])

/** Maximum time of a case, ms. Most take less than 50; the machine may be busy. */
const maxCaseMs = 60_000

if (values.bombs) explode()
else if (process.send === undefined) watch()
else await work()

/** Runs the cases in a process of their own, and ends it if a case takes too long. */
function watch(): void {
  const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), {
    execArgv: process.execArgv,
  })
  let current = 'the first case'
  const hang = () => {
    console.log(`\nHANG in ${current}: no end after ${maxCaseMs / 1000} s`)
    child.kill('SIGKILL')
    process.exitCode = 1
  }
  let timer = setTimeout(hang, maxCaseMs)
  child.on('message', (name) => {
    current = String(name)
    clearTimeout(timer)
    timer = setTimeout(hang, maxCaseMs)
  })
  child.on('exit', (code, signal) => {
    clearTimeout(timer)
    if (code !== 0) process.exitCode = 1
    if (code === null && signal !== 'SIGKILL') console.log(`\nended by ${signal} in ${current}`)
  })
}

async function work(): Promise<void> {
  const started = performance.now()
  const result = await runFuzz({
    seed,
    isOver: () => performance.now() - started > seconds * 1000,
    begin: (kind, number) => process.send?.(`${kind}:${number}`),
    ...(values.only === undefined ? {} : { only: parseCase(values.only) }),
  })
  let all = 0
  for (const [kind, { cases, refused }] of result.counts) {
    all += cases
    console.log(
      `${String(cases).padStart(8)} cases  ${String(refused).padStart(8)} refused  ${kind}`,
    )
  }
  console.log(
    `\n${all} cases in ${describeSeconds()} with seed ${seed}, ${result.failures.length} failures`,
  )
  for (const { kind, number, input, stack } of result.failures) {
    console.log(`\nnpm run fuzz -- --seed ${seed} --only '${kind}:${number}'\n${stack}`)
    if (values.only !== undefined) console.log(`\n${input}`)
  }
  process.exitCode = result.failures.length === 0 ? 0 : 1
  process.disconnect()
}

function parseCase(text: string): { kind: string; number: number } {
  const at = text.lastIndexOf(':')
  return { kind: text.slice(0, at), number: Number(text.slice(at + 1)) }
}

/** Runs bombs until the time is over, and prints the failures and the worst costs. */
function explode(): void {
  const end = performance.now() + seconds * 1000
  const runs: BombRun[] = []
  for (const run of runBombs(seed, values.only)) {
    runs.push(run)
    if (run.excess !== null)
      console.log(`${describeRun(run)}: ${run.excess}\n${run.cost.output.slice(0, 500)}`)
    else if (values.only !== undefined) console.log(`${describeRun(run)}\n${run.cost.output}`)
    if (performance.now() > end) break
  }
  const failures = runs.filter(({ excess }) => excess !== null)
  console.log(
    `\n${runs.length} commands with seed ${seed}, ${failures.length} failures; the worst:`,
  )
  const worst = (measure: (run: BombRun) => number) =>
    runs.toSorted((a, b) => measure(b) - measure(a)).slice(0, 3)
  for (const run of [...worst(({ cost }) => cost.cpu), ...worst(({ cost }) => cost.memory)])
    console.log(describeRun(run))
  process.exitCode = failures.length === 0 ? 0 : 1
}

function describeRun({ name, bytes, cost: { command, cpu, wall, memory } }: BombRun): string {
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`
  return (
    `npm run fuzz -- --bombs --seed ${seed} --only ${name} (${size}, ${command.join(' ')}): ` +
    `${cpu.toFixed(1)} s of processor, ${wall.toFixed(1)} s, ${memory} MB`
  )
}
