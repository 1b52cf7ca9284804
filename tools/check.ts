/** Runs everything that CI runs, in order, and stops at the first failure. */
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

for (const [name, command] of steps) {
  const started = performance.now()
  console.log(`\n== ${name}: ${command}`)
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`== ${name} failed`)
    process.exit(status ?? 1)
  }
  console.log(`== ${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
