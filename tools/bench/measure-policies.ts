import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { adoptFleet } from './measure-manifests.ts'
import { findMedian, measureInTurn } from './measure.ts'
import { createRow, type Row } from './row.ts'
import type { Workbench } from './workbench.ts'

/** Expressions of policies. Each manifest has an origin of its own: few results are shared. */
const texts = [
  'when: domain.name.endsWith("5.example.com")\ndeny: config.origin.origin_mode == "http"',
  'deny: config.origin.default_master.split(",").exists(a, a.startsWith("10."))',
  'deny: int(config.timeout.time) > 600',
  'when: has(config.https)\ndeny: config.https.force_https != 301',
  'deny: config.origin_host.host.matches("^[a-z]+[.]internal$")',
]

/** Measures what policies add to a plan with nothing to do, and to one without policies. */
export function measurePolicies(bench: Workbench, domains: number, rounds: number): Row[] {
  const folder = adoptFleet(bench, domains, 'state: {store: dir}')
  const policies = join(folder, 'policies')
  const plan = () => bench.edgewise(folder, ['plan', '--detailed-exitcode'])
  plan()
  const costs = measureInTurn(
    {
      without: () => {
        rmSync(policies, { recursive: true, force: true })
        return plan()
      },
      with: () => {
        writePolicies(policies, 50)
        return plan()
      },
    },
    rounds,
  )
  const added = costs.with.map(({ wall }, i) => wall - (costs.without[i]?.wall ?? NaN))
  const what = `50 policies over a plan of ${domains}, wall`
  return [createRow(`policies-${domains}`, what, 's', findMedian(added), 3)]
}

function writePolicies(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true })
  const documents = Array.from({ length: count }, (_, i) => {
    const text = texts[i % texts.length] ?? ''
    return `policy: p${i}\nlevel: hard\non: domain\n${text}\nmessage: "no ${i}"\n`
  })
  writeFileSync(join(folder, 'all.yaml'), documents.join('---\n'))
}
