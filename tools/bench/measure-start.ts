import { writeFleet } from './fleet.ts'
import { compareCosts, measureInTurn } from './measure.ts'
import type { Row } from './row.ts'
import type { Workbench } from './workbench.ts'

/** Measures the start of the program, and `validate` of one manifest, beside a bare Node. */
export function measureStart(bench: Workbench, rounds: number): Row[] {
  const folder = bench.makeFolder('one')
  writeFleet(folder, 1, 'state: {store: dir}')
  const times = 3
  const { bare, ...works } = measureInTurn(
    {
      bare: () => bench.node(folder, ['-e', '0'], { times }),
      version: () => bench.edgewise(folder, ['--version'], { times }),
      validate: () => bench.edgewise(folder, ['validate'], { times }),
      first: () => bench.edgewiseCold(folder, ['validate'], { times }),
    },
    rounds,
  )
  const row = (work: keyof typeof works, what: string, goal: number | null): Row => ({
    id: `start-${work}`,
    what,
    unit: 's',
    ...compareCosts(works[work], bare),
    goal,
  })
  // Node keeps compiled code from version 22.1.
  const maxValidate = process.versions.node.startsWith('20.') ? 3.6 : 2.6
  return [
    row('version', '--version / bare Node, CPU', 1.5),
    row('validate', 'validate of 1 manifest / bare Node, CPU', maxValidate),
    row('first', 'the same without a cache', null),
  ]
}
