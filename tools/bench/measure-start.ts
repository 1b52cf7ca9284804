import { existsSync } from 'node:fs'
import { writeFleet } from './fleet.ts'
import { compareCosts, measureInTurn } from './measure.ts'
import { createUnmeasuredRow, type Row } from './row.ts'
import type { Workbench } from './workbench.ts'

interface Binary {
  label: string
  /** Null: not installed. */
  path: string | null
  maxVersion: number
  /** Node keeps compiled code from version 22.1. */
  maxValidate: number
}

/**
 * Measures the start of the program, and `validate` of one manifest, beside a bare Node.
 *
 * @param node24 a second binary of Node
 */
export function measureStart(bench: Workbench, rounds: number, node24: string | null): Row[] {
  const folder = bench.makeFolder('one')
  writeFleet(folder, 1, 'state: {store: dir}')
  const own = process.versions.node.split('.')[0] ?? ''
  return [
    {
      label: `Node ${own}`,
      path: process.execPath,
      maxVersion: own === '20' ? 1.5 : 2.5,
      maxValidate: own === '20' ? 3.6 : 2.6,
    },
    { label: 'Node 24', path: node24, maxVersion: 2.5, maxValidate: 2.6 },
  ]
    .filter(({ label }, i) => i === 0 || label !== `Node ${own}`)
    .flatMap((binary) => measureBinary(bench, folder, binary, rounds))
}

function measureBinary(
  bench: Workbench,
  folder: string,
  { label, path, maxVersion, maxValidate }: Binary,
  rounds: number,
): Row[] {
  const labels = {
    version: `--version, ${label} / bare Node, CPU`,
    validate: `validate of 1 manifest, ${label} / bare Node, CPU`,
    first: `the same without a cache`,
  }
  const suffix = path === process.execPath ? '' : '-node24'
  if (path === null || !existsSync(path)) {
    const note = path === null ? 'not measured: pass --node24 PATH' : `not measured: no ${path}`
    return [
      createUnmeasuredRow(`start-version${suffix}`, labels.version, maxVersion, note),
      createUnmeasuredRow(`start-validate${suffix}`, labels.validate, maxValidate, note),
    ]
  }
  const options = { node: path, times: 3 }
  const costs = measureInTurn(
    {
      bare: () => bench.node(folder, ['-e', '0'], options),
      version: () => bench.edgewise(folder, ['--version'], options),
      validate: () => bench.edgewise(folder, ['validate'], options),
      first: () => bench.edgewiseCold(folder, ['validate'], options),
    },
    rounds,
  )
  const compare = (work: keyof typeof labels, goal: number | null): Row => ({
    id: `start-${work}${suffix}`,
    what: labels[work],
    unit: 's',
    ...compareCosts(costs[work], costs.bare),
    goal,
  })
  return [compare('version', maxVersion), compare('validate', maxValidate), compare('first', null)]
}
