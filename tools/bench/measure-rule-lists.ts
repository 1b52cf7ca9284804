import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listKinds } from '../../test/rule-lists/kinds.ts'
import { findRuleListFindings } from '../../src/core/rule-lists/find-findings.ts'
import type { Value } from '../../src/core/model/item.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { compareFigures, createRow, measureCpu, type Row } from './row.ts'
import type { Workbench } from './workbench.ts'

/** Lists of one measurement in which each list is different. */
const count = 200

/** Measures findings about the rule lists of a fleet, and of lists that are all different. */
export function measureRuleLists(bench: Workbench, domains: number): Row[] {
  const folder = bench.makeFolder('rule-lists')
  writeRules(folder, domains)
  const { wall } = bench.edgewiseCold(folder, ['validate'])
  const what = `validate of ${domains} domains with 20 rules of a profile, one of them hidden`
  return [
    createRow(`rule-lists-${domains}`, what, 's', wall, 5),
    ...[false, true].map((hasRegex) =>
      createRow(
        `rule-lists-distinct${hasRegex ? '-regex' : ''}`,
        `${count} different lists of 20 rules${hasRegex ? ', three of them expressions' : ''}`,
        's',
        measureDistinct(hasRegex),
      ),
    ),
    ...[false, true].map((hasRegex) => measureOwn(bench, hasRegex)),
    ...Object.keys(listKinds).map(measureKind),
  ]
}

/** Measures a fleet in which each domain has a list of its own. */
function measureOwn(bench: Workbench, hasRegex: boolean): Row {
  const id = `rule-lists-own${hasRegex ? '-regex' : ''}`
  const folder = bench.makeFolder(id)
  mkdirSync(join(folder, 'domains'), { recursive: true })
  writeFileSync(join(folder, 'edgewise.yaml'), 'version: 1\nservice: {url: emulator}\n')
  for (let i = 0; i < 1000; i++) {
    const rules = hasRegex
      ? Array.from({ length: 20 }, (_, n) => ({
          type: 4,
          pattern: `/v${i}/${n}/.*a$`,
          time: n + 1,
        }))
      : createRules(i, false)
    const text = JSON.stringify({ domain: `d${i}.example.com`, config: { cache_rule: rules } })
    writeFileSync(join(folder, 'domains', `d${i}.yaml`), text)
  }
  const { cpu } = bench.edgewiseCold(folder, ['validate'])
  const what = `validate of 1,000 domains with 20 own ${hasRegex ? 'expressions' : 'rules'}, CPU`
  return createRow(id, what, 's', cpu, 10)
}

/** Measures 800 entries of a kind beside 100; figures below a tenth of a second say nothing. */
function measureKind(kind: string): Row {
  const [few = 0, many = 0] = [100, 800].map((length) => {
    const items = new Map(Object.entries(listKinds[kind]?.(length) ?? {}))
    const settings = buildSettings()
    const find = () => findRuleListFindings('www.example.com', items, settings)
    return Math.max(0.1, measureCpu(find))
  })
  return compareFigures(`rule-list ${kind}`, `800 entries beside 100: ${kind}`, many, few, 12, 's')
}

/** Size of the manifest of a bomb, bytes: 5 MB at most, which is the limit of a file. */
const bombBytes = 4.9e6

/** Measures `validate` of one manifest of 5 MB for each kind of list: CPU, and peak memory. */
export function measureBombs(bench: Workbench): Row[] {
  return Object.keys(listKinds).flatMap((kind, i) => {
    const build = (length: number) => JSON.stringify(listKinds[kind]?.(length) ?? {})
    // Entries grow with their number.
    const about = Math.floor((1000 * bombBytes) / build(1000).length)
    const length = Math.floor((about * bombBytes) / build(about).length)
    const folder = bench.makeFolder(`bomb-${i}`)
    mkdirSync(join(folder, 'domains'), { recursive: true })
    writeFileSync(join(folder, 'edgewise.yaml'), 'version: 1\nservice: {url: emulator}\n')
    const text = `{"domain": "www.example.com", "config": ${build(length)}}`
    writeFileSync(join(folder, 'domains', 'a.yaml'), text)
    const { cpu, peak } = bench.measureRefusing(folder, ['validate'])
    const what = `validate of 5 MB: ${kind}`
    return [
      createRow(`bomb ${kind}`, `${what}, CPU`, 's', cpu, 10),
      createRow(`bomb-memory ${kind}`, `${what}, memory`, 'MB', peak, 1024),
    ]
  })
}

/** CPU seconds of all lists. */
function measureDistinct(hasRegex: boolean): number {
  const settings = buildSettings()
  const lists = Array.from({ length: count }, (_, i) => createRules(i, hasRegex))
  return measureCpu(() => {
    for (const rules of lists)
      findRuleListFindings('www.example.com', new Map([['cache_rule', rules]]), settings)
  })
}

function createRules(i: number, hasRegex: boolean): Value {
  return Array.from({ length: 20 }, (_, n) => {
    const time = n + 1
    if (hasRegex && n % 7 === 1)
      return { type: 4, pattern: `/api${i}/v${n}/.*\\.json$`, time, timeunit: 's' }
    const kind = n % 2 === 0 ? 1 : 2
    const pattern = kind === 1 ? `e${n}x${i},f${n}` : `/d${n}/${i}/`
    return { type: kind, pattern, time, timeunit: 's' }
  })
}

/** Writes a fleet whose domains have the rules of one profile. */
function writeRules(folder: string, domains: number): void {
  for (const name of ['domains', 'profiles']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'edgewise.yaml'), 'version: 1\nservice: {url: emulator}\n')
  const rules = [
    ...(createRules(0, true) as Value[] & object).slice(1),
    { type: 4, pattern: '/api0/v1/.*a\\.json$', time: 9 },
  ]
  const text = JSON.stringify({ profile: 'base', config: { cache_rule: rules } })
  writeFileSync(join(folder, 'profiles', 'base.yaml'), text)
  for (let i = 0; i < domains; i++)
    writeFileSync(
      join(folder, 'domains', `d${i}.yaml`),
      `domain: d${i}.example.com\nprofiles: [base]\nconfig:\n  timeout: {time: ${5 + (i % 290)}}\n`,
    )
}
