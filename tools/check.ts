/** Runs all steps of CI in order up to the first failure, and prints the cost of each. */
import { spawnSync } from 'node:child_process'

const steps: [string, string][] = [
  ['types', 'npm run --silent typecheck'],
  ['lint', 'npm run --silent lint'],
  ['format', 'npm run --silent format:check'],
  ['generated files', 'npm run --silent generate:check'],
  ['house', 'npm run --silent house'],
  ['tests', 'npm test --silent'],
  ['pages', 'npm run --silent docs:test'],
  ['licences', 'npm run --silent licences'],
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

/** Formats the seconds of each step and its share of all as a Markdown table. */
function formatCosts(): string[] {
  const all = costs.reduce((sum, [, seconds]) => sum + seconds, 0)
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
