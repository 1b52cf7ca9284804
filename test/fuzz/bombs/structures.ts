import { buildOne, count, list, nameDomain, quote, repeat, writeManifest } from './bomb.ts'
import { checks, home, type Builder } from './bomb.ts'
import { drawTokens, fields } from './tokens.ts'

type Write = (i: number) => string

const maxDomains = 20_000

/** Bombs of structures: many keys, entries, domains, references, anchors, files. */
export const structureBombs: Record<string, Builder> = {
  keys: (bytes, chance) => {
    const isFlow = chance.happens(0.5)
    const value = chance.pick(['1', 'a', 'null', '{}', '[]'])
    const keys = list(count(bytes, 12), (i) => `k${i}: ${value}`, isFlow ? ', ' : '\n  ')
    const map = isFlow ? `{${keys}}` : `\n  ${keys}`
    const above = chance.pick(['config', 'defaults', 'vars', 'config: {https', 'x'])
    return buildOne(
      above.includes('{')
        ? `domain: a.example.com\n${above}: {${keys.replaceAll('\n', ',')}}}\n`
        : `domain: a.example.com\n${above}: ${map}\n`,
    )
  },
  twice: (bytes, chance) => {
    const line = chance.pick(['  https: {}\n', '  ? a\n', '  <<: {a: 1}\n', '  k: 1\n', '  - a\n'])
    return buildOne(writeManifest(repeat(line, bytes)))
  },
  entries: (bytes, chance) => {
    const entry = chance.pick<Write>([
      (i) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`,
      (i) => `10.${(i >> 8) & 255}.${i & 255}.0/24`,
      (i) => `u${i}`,
      ...['a', '{}', '{a: 1}', '1', '[]', '"${domain}"', '*a'].map((each) => () => each),
    ])
    return buildOne(
      writeManifest(`  ${chance.pick(fields)(list(count(bytes, 14), entry, ', '))}\n`),
    )
  },
  rules: (bytes, chance) => {
    const rule = chance.pick<Write>([
      (i) => `{match_method: dir, pattern: /a${i}/, expire: 0, priority: ${i}}`,
      (i) => `{match_method: ext, pattern: "a${i}", expire: 1, expire_unit: D, priority: ${i}}`,
      () => '{match_method: ext}',
    ])
    const rules = list(count(bytes, 70), rule, ', ')
    return buildOne(writeManifest(`  cache_rule_list: [${rules}]\n`))
  },
  domains: (bytes, chance) => {
    const share = chance.draw()
    const many = list(count(bytes * share, 24), (i) => `"http://\${domain}/${i}"`, ', ')
    const long = repeat('${domain}', Math.min(60_000, bytes * share))
    const config = chance.pick([
      'https: {cert_id: 1}',
      'add_response_head: {list: [{name: X, value: "${domain}"}]}',
      `deny_url: {urls: [${many}]}`,
      `deny_url: {urls: ["${long}"]}`,
      'nothing: 1',
    ])
    const name = chance.pick<Write>([nameDomain, nameDomain, () => 'a.io', (i) => `x${i}`])
    // A plan takes its time for each domain that differs: fleets of any size are not refused.
    const domains = Math.min(count(bytes * (1 - share), 20), maxDomains)
    const names = list(domains, (i) => `- ${name(i)}\n`)
    return buildOne(`domains:\n${names}config:\n  ${config}\n`)
  },
  vars: (bytes, chance) => {
    const wide = 'x'.repeat(Math.min(60_000, Math.floor(bytes * chance.draw())))
    const refs = repeat(
      chance.pick(['${var:v}', '${var:v}$${', '${domain}']),
      chance.between(8, 60_000),
    )
    const values = list(chance.between(1, 60), (i) => `{name: X${i}, value: "${refs}"}`, ', ')
    return buildOne(
      `domains: [${list(chance.pick([1, 100, 5000]), nameDomain, ', ')}]\nvars: {v: "${wide}"}\n` +
        `config:\n  add_response_head: {list: [${values}]}\n`,
    )
  },
  unknown: (bytes, chance) => {
    const vars = list(count(bytes / 2, 16), (i) => `v${i}: a`, ', ')
    const ref = chance.pick<Write>([(i) => `\${var:w${i}}`, () => '${secret:w}', () => '${x}'])
    const each = chance.pick([10, 1000, 30_000])
    const text = quote(list(count(each, 10), ref))
    const values = list(count(bytes / 2, each), () => text, ', ')
    return buildOne(
      `domain: a.example.com\nvars: {${vars}}\nconfig:\n  deny_url: {urls: [${values}]}\n`,
    )
  },
  laughs: (bytes, chance) => {
    const wide = chance.between(2, 50)
    const level = (i: number) => list(wide, () => (i === 0 ? 'x' : `*a${i - 1}`), ', ')
    const levels = count(Math.min(bytes, 20_000), wide * 5)
    return buildOne(writeManifest(list(levels, (i) => `  a${i}: &a${i} [${level(i)}]\n`)))
  },
  anchors: (bytes, chance) => {
    const line = chance.pick<Write>([
      (i) => `  k${i}: &a${i} 1\n`,
      (i) => `  k${i}: *a\n`,
      (i) => `  k${i}: &a 1\n  l${i}: *a\n`,
      (i) => `  k${i}: &a${i} 1\n  l${i}: *a${i}\n`,
      (i) => `  k${i}: {<<: *a}\n`,
    ])
    return buildOne(writeManifest(`  a: &a {b: 1}\n${list(count(bytes, 22), line)}`))
  },
  files: (bytes, chance) => {
    const text = chance.pick<Write>([
      (i) => `domain: ${nameDomain(i)}\nconfig: {https: {cert_id: 1}}\n`,
      (i) => `domain: ${nameDomain(i)}\nconfig: {nothing: 1}\n`,
      ...['[', '', 'a.io', `[${repeat(drawTokens(chance), 500)}`].map((each) => () => each),
    ])
    const paths = Array.from({ length: Math.min(3000, count(bytes, 60)) }, (_, i) => i)
    const files = paths.map((i) => [`domains/${i}.yaml`, text(i)])
    return { files: { 'edgewise.yaml': home, ...Object.fromEntries(files) }, commands: checks }
  },
}
