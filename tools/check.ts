/**
 * Runs all steps of CI in order up to the first failure, and prints the cost of each. Steps of one
 * line run at the same time, and the outputs of the others follow that of the first.
 */
import { spawn } from 'node:child_process'

type Step = [name: string, command: string]

/** Part of the repetitions that `npm run check:long` makes in full. */
const runs = process.env['EDGEWISE_TEST_RUNS'] ?? '0.1'

const steps: Step[][] = [
  [
    ['types', 'npm run --silent typecheck'],
    ['generated files', 'npm run --silent generate:check'],
  ],
  [
    ['lint', 'npm run --silent lint'],
    ['house', 'npm run --silent house'],
    ['size', 'npm run --silent size'],
    ['format', 'npm run --silent format:check'],
  ],
  [['tests', 'npm test --silent']],
  [['browser', 'npm run --silent test:browser']],
  // Alone, since another step would disturb its ratios a little.
  [['speed', 'node --import tsx tools/bench.ts --small']],
  // All use the program that the tests built. The pages mostly wait for the call rate.
  [
    ['longer checks', `EDGEWISE_TEST_RUNS=${runs} vitest run`],
    ['pages', 'tsx tools/docs-test.ts'],
    ['licences', 'npm run --silent licences'],
    ['package', 'npm run --silent package:check'],
  ],
]
const costs: [string, number][] = []
const started = performance.now()

for (const line of steps) {
  console.log(`\n== ${line.map((step) => step.join(': ')).join('; ')}`)
  const ended = await Promise.all(line.map((step, i) => run(step, i === 0)))
  for (const step of ended) {
    if (step.output !== '') console.log(`\n== ${step.name}\n${step.output}`)
    if (step.status === 0) continue
    console.error(`== ${step.name} failed`)
    process.exitCode = step.status
  }
  if (process.exitCode !== undefined) break
}
console.log(`\n${formatCosts().join('\n')}`)

interface Ended {
  name: string
  status: number
  /** Empty if it was printed. */
  output: string
}

function run([name, command]: Step, prints: boolean): Promise<Ended> {
  const from = performance.now()
  const child = spawn(command, { shell: true, stdio: prints ? 'inherit' : 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
  return new Promise((resolve) => {
    child.once('close', (code) => {
      costs.push([name, (performance.now() - from) / 1000])
      resolve({ name, status: code ?? 1, output })
    })
  })
}

/** Formats the seconds of each step and its share of all as a Markdown table. */
function formatCosts(): string[] {
  const all = (performance.now() - started) / 1000
  const row = ([name, seconds]: [string, number]) => {
    const share = ((100 * seconds) / all).toFixed(0)
    return `| ${name.padEnd(15)} | ${seconds.toFixed(1).padStart(7)} | ${share.padStart(3)} % |`
  }
  return [
    '| check           | seconds | share |',
    '|-----------------|--------:|------:|',
    ...costs.map(row),
    row(['all', all]),
  ]
}
