/** Runs everything that CI runs, in order, stops at the first failure, and prints each step's cost. */
import { spawnSync } from 'node:child_process'

const steps: [string, string][] = [
  ['types', 'npm run --silent typecheck'],
  ['lint', 'npm run --silent lint'],
  ['format', 'npm run --silent format:check'],
  ['generated files', 'npm run --silent generate:check'],
  ['house', 'npm run --silent house'],
  ['tests', 'npm test --silent'],
  ['package', 'npm run --silent package:check'],
  ['longer checks', 'npm run --silent check:long'],
]
const costs: [string, number][] = []

for (const [name, command] of steps) {
  const started = performance.now()
  console.log(`\n== ${name}: ${command}`)
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit' })
  costs.push([name, (performance.now() - started) / 1000])
  if (status !== 0) {
    console.error(`== ${name} failed`)
    process.exitCode = status ?? 1
    break
  }
}
console.log(`\n${formatCosts().join('\n')}`)

/** A table of Markdown: seconds of each step, and its share of all. */
function formatCosts(): string[] {
  const all = costs.reduce((sum, [, seconds]) => sum + seconds, 0)
  const row = ([name, seconds]: [string, number]) =>
    `| ${name.padEnd(15)} | ${seconds.toFixed(1).padStart(7)} | ${((100 * seconds) / all).toFixed(0).padStart(3)} % |`
  return [
    '| check           | seconds | share |',
    '|-----------------|--------:|------:|',
    ...costs.map(row),
    row(['all', all]),
  ]
}
