import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeFleet } from './fleet.ts'
import { createRow, type Row } from './row.ts'
import type { Workbench } from './workbench.ts'

const storefront = fileURLToPath(new URL('../../examples/storefront', import.meta.url))
const [domains, testsPerDomain] = [1000, 5]

/** Measures 5,000 tests of 1,000 domains, and trying each change of the example. */
export function measureTests(bench: Workbench): Row[] {
  const fleet = bench.makeFolder('tests')
  writeFleet(fleet, domains, 'state: {store: dir}')
  mkdirSync(join(fleet, 'tests'))
  for (let i = 0; i < domains; i++)
    writeFileSync(join(fleet, 'tests', `d${i}.yaml`), buildTests(i).join('---\n'))
  const run = bench.edgewiseCold(fleet, ['test', '--quiet'])
  const example = bench.makeFolder('storefront')
  cpSync(storefront, example, { recursive: true })
  const mutate = bench.edgewiseCold(example, ['test', '--mutate', '--quiet'])
  return [
    createRow('test', '5,000 tests of 1,000 domains, wall', 's', run.wall, 5),
    createRow('mutate', 'each change of examples/storefront, wall', 's', mutate.wall, 30),
  ]
}

function buildTests(i: number): string[] {
  const domain = `d${i}.example.com`
  return Array.from(
    { length: testsPerDomain },
    (_, n) =>
      `test: pages of ${domain}, ${n}\n` +
      `domains: [${domain}]\n` +
      'assume: {unmanaged: absent}\n' +
      'items: {https/force_https: 301}\n' +
      'requests:\n' +
      `  - url: https://${domain}/${n}.png\n` +
      `    ip: 192.0.2.${n}\n` +
      `    expect: {access.decision: allowed, origin.host: o${i % 40}.origin.example.net}\n` +
      `  - {url: "http://${domain}/", expect: {redirect.status: 301}}\n`,
  )
}
