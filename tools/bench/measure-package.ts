import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createRow, type Row } from './row.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Measures the unpacked size of the package, as npm reports it. */
export function measurePackage(): Row[] {
  const args = ['pack', '--dry-run', '--ignore-scripts', '--json']
  const output = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [packed] = JSON.parse(output) as { unpackedSize: number }[]
  if (packed === undefined) throw new Error('npm pack described no package')
  return [createRow('package', 'unpacked size of the package', 'MB', packed.unpackedSize / 1e6, 6)]
}
