import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bomb } from './bomb.ts'

/** Maximum cost of a command on 5 MB of foreign input: seconds, and memory in MB. */
export const maxCost = { seconds: 10, memory: 1000 }

const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const reporter = fileURLToPath(new URL('../../../tools/bench/report-memory.cjs', import.meta.url))
/** Time after which a command is ended, ms: the machine may be busy. */
const timeout = 300_000
/** Time on the processor after which a command is ended, seconds. */
const maxCpu = 60
const secret = 'a-secret-value-that-is-long-enough'

/** The cost of a command in the built program, and how it ended. */
export interface CommandCost {
  command: string[]
  /** Seconds of user and system, over all threads: a busy machine changes them little. */
  cpu: number
  wall: number
  /** Peak memory, MB. */
  memory: number
  code: number | null
  output: string
}

/** Measures a command of the built program in a workspace with these files. */
export function measureBomb({ files, commands }: Bomb): CommandCost[] {
  const root = mkdtempSync(join(tmpdir(), 'edgewise-bomb-'))
  try {
    writeFileSync(join(root, 'edgewise.yaml'), 'version: 1\nid: bombs\nstate: {store: dir}\n')
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return commands.map((command) => measureCommand(root, command))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function measureCommand(root: string, command: string[]): CommandCost {
  const report = join(root, '.cost')
  const line = [process.execPath, '--require', reporter, program, '-C', root, ...command]
  const script = `ulimit -t ${maxCpu}; TIMEFORMAT="%R %U %S"; time "$@" > "$0.out" 2> "$0.err"`
  const { status, stderr } = spawnSync('bash', ['-c', script, report, ...line], {
    env: { ...process.env, LC_ALL: 'C', EDGEWISE_BENCH_MEMORY: report, BOMB_SECRET: secret },
    encoding: 'utf8',
    timeout,
    killSignal: 'SIGKILL',
  })
  const [wall = NaN, user = NaN, system = NaN] = stderr.trim().split(/\s+/).slice(-3).map(Number)
  const output = readOnce(`${report}.out`) + readOnce(`${report}.err`)
  const memory = readOnce(report).match(/\d+$/gm)?.map(Number) ?? []
  return {
    command,
    cpu: user + system,
    wall,
    memory: memory.reduce((max, each) => Math.max(max, each), 0),
    code: status,
    output,
  }
}

function readOnce(file: string): string {
  if (!existsSync(file)) return ''
  const text = readFileSync(file, 'utf8')
  rmSync(file)
  return text
}

/** Explains what is wrong with a cost; null within the bounds. */
export function findExcess({ cpu, wall, memory, code, output }: CommandCost): string | null {
  if (code === null || code > 3 || Number.isNaN(wall)) return `ended with ${code}`
  if (/internal error|at .+:\d+:\d+\)?$/m.test(output)) return 'internal error'
  // The machine may be busy, and no thread makes a command slower than its time on the processor.
  if (Math.min(cpu, wall) > maxCost.seconds) return `took ${Math.min(cpu, wall).toFixed(1)} s`
  if (memory > maxCost.memory) return `took ${memory} MB`
  if (code !== 0 && output.trim() === '') return 'said nothing'
  return null
}
