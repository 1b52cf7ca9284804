import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Cost of a process and its child processes. */
export interface Cost {
  /** Seconds. */
  wall: number
  /** Seconds of user and system, over all threads. */
  cpu: number
  /** What was printed on stdout and stderr. */
  output: string
}

export interface Command {
  folder: string
  env: NodeJS.ProcessEnv
  args: string[]
  /** How many times it runs; the cost is that of one. */
  times?: number
}

/** Runs a command so often. Ctrl-C ends it although the command may end as if nothing happened. */
const script =
  'trap "exit 130" INT; TIMEFORMAT="%R %U %S"; ' +
  'time for i in $(seq $0); do "$@" || exit; done > output 2>&1'

/** @throws Error with its output if the command fails, as a plan with changes does */
export function measure({ folder, env, args, times = 1 }: Command): Cost {
  const { status, stderr } = spawnSync('bash', ['-c', script, String(times), ...args], {
    cwd: folder,
    env: { ...env, LC_ALL: 'C' },
    encoding: 'utf8',
  })
  const file = join(folder, 'output')
  const output = readFileSync(file, 'utf8')
  rmSync(file)
  if (status !== 0) throw new Error(`${args.join(' ')}: exit code ${status}\n${output}`)
  const [wall = 0, user = 0, system = 0] = stderr.trim().split(/\s+/).map(Number)
  return { wall: wall / times, cpu: (user + system) / times, output }
}

/** Measures some pieces of work in turn, so often, so that what disturbs one disturbs all. */
export function measureInTurn<Name extends string>(
  works: Record<Name, (round: number) => Cost>,
  rounds: number,
): Record<Name, Cost[]> {
  const names = Object.keys(works) as Name[]
  const costs = Object.fromEntries(names.map((name) => [name, [] as Cost[]]))
  for (let round = 0; round < rounds; round++)
    for (const name of names) costs[name]?.push(works[name](round))
  return costs as Record<Name, Cost[]>
}

/** Compares what was measured in turn: the medians, and the median ratio of the rounds. */
export function compareCosts(
  work: Cost[],
  base: Cost[],
  by: 'cpu' | 'wall' = 'cpu',
): { measured: number; base: number; ratio: number } {
  return {
    measured: findMedian(work.map((cost) => cost[by])),
    base: findMedian(base.map((cost) => cost[by])),
    ratio: findMedian(work.map((cost, i) => cost[by] / (base[i]?.[by] ?? NaN))),
  }
}

/** Finds the middle value; of an even number, the greater of the two in the middle. */
export function findMedian(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}
