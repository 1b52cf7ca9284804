// @module-tag often
// @module-tag nightly
import { expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import { inputLimits } from '../../src/core/model/input-limits.ts'
import { itLong } from '../runs.ts'
import { assemble } from '../../src/manifest/manifests/assemble.ts'
import { parseYaml } from '../../src/manifest/yaml/yaml-file.ts'
import { createWorkspace, plainKeeper } from './test-workspace.ts'

const list = (count: number, build: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => build(i)).join('')
const describeProblems = (files: Record<string, string>) =>
  createWorkspace(files).diagnostics.map(
    ({ file, line, column, code, detail }) => `${file}:${line}:${column} ${code} ${detail}`,
  )
const headers = (values: string) => `config:\n  add_response_head:\n    list:\n${values}`
const header = (value: string) => (i: number) => `      - {name: X${i}, value: "${value}"}\n`

it('the texts of a domain have at most 1 MiB after references are replaced', () => {
  const build = (count: number) => ({
    'domains/a.yaml':
      `domain: a.example.com\nvars: {v: ${'x'.repeat(1000)}}\n` +
      headers(list(count, header('${var:v}'.repeat(100)))),
  })
  expect(describeProblems(build(10))).toEqual([])
  expect(describeProblems(build(11))).toEqual([
    'domains/a.yaml:16:28 item-invalid expected at most 1 MiB of text of one domain after ' +
      'references are replaced, got more. Use shorter variables, fewer references, or fewer ' +
      'domains.',
  ])
})

itLong('the texts of all domains have at most 64 MiB after references are replaced', () => {
  const build = (domains: number) => ({
    'domains/a.yaml':
      `domains:\n${list(domains, (i) => `- d${i}.example.com\n`)}` +
      `vars: {v: ${'x'.repeat(1000)}}\n${headers(list(1, header('${var:v}'.repeat(200))))}`,
  })
  expect(describeProblems(build(300))).toEqual([])
  expect(describeProblems(build(400))).toEqual([
    expect.stringMatching(/ item-invalid expected at most 64 MiB of text of all domains together/),
  ])
})

itLong('an item of many values that is made for each domain counts with all of them', () => {
  const urls = list(3000, (i) => `"http://\${domain}/${i}", `)
  const names = list(2000, (i) => `- d${i}.example.com\n`)
  const started = process.cpuUsage()
  const [problem] = describeProblems({
    'domains/a.yaml': `domains:\n${names}config: {deny_url: {urls: [${urls}]}}\n`,
  })
  expect(problem).toContain('64 MiB of text of all domains together')
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000)
})

it('undefined references of one item are reported up to twenty, with twenty names', () => {
  const vars = list(5000, (i) => `v${i}: a, `)
  const problems = describeProblems({
    'domains/a.yaml':
      `domain: a.example.com\nvars: {${vars}}\n` +
      headers(header(list(1000, (i) => `\${var:nothing${i}}`))(0)),
  })
  expect(problems).toHaveLength(20)
  expect(problems[0]).toContain('v18, v19 and 4,980 more')
})

it.each([
  ['guards: {protect: ["*.a.io"GLOBS]}\n', '1:19', (i: number) => `, "*${i}.a.io"`],
  ['rollout: {first: ["*.a.io"GLOBS]}\n', '1:18', (i: number) => `, "*${i}.a.io"`],
  [
    'drift: {ignore: [{domain: "*", item: https, reason: r}GLOBS]}\n',
    '1:17',
    (i: number) => `, {domain: "*${i}.a.io", item: https, reason: r}`,
  ],
])('too many globs for the domains are refused: %s', (line, _at, glob) => {
  const build = (globs: number) => ({
    'edgewise.yaml': `version: 1\n${line.replace('GLOBS', list(globs - 1, glob))}`,
    'domains/a.yaml': `domains:\n${list(1000, (i) => `- d${i}.a.io\n`)}config: {}\n`,
  })
  expect(describeProblems(build(1000))).toEqual([])
  expect(describeProblems(build(1001))).toEqual([
    expect.stringContaining(
      'workspace-invalid expected at most 1000000 pairs of a glob and a domain, got 1001000 ' +
        '(1001 globs, 1000 domains)',
    ),
  ])
})

it('too many secrets for the other texts of the workspace file are refused', () => {
  const build = (receivers: number) => ({
    'edgewise.yaml':
      `version: 1\nsecrets: {${list(997, (i) => `s${i}: {env: S${i}}, `)}}\nnotify:\n` +
      list(receivers, (i) => `- {kind: slack, url: "https://a.example/${i}", on: [drift]}\n`),
    'domains/a.yaml': 'domain: a.io\nconfig: {}\n',
  })
  expect(describeProblems(build(900))).toEqual([])
  expect(() => describeProblems(build(1000))).toThrow(
    'expected at most 1000000 pairs of a credential and another text of this file, got 1012984',
  )
})

it('too many freeze windows are refused before their time zones are looked up', () => {
  const windows = list(1001, (i) => `{from: "Fri 16:00", to: "Mon 08:00", timezone: A${i}}, `)
  expect(() =>
    createWorkspace({ 'edgewise.yaml': `version: 1\nguards: {freeze: [${windows}]}\n` }),
  ).toThrow('expected a list of at most 1000 times, got a list of 1001')
})

it.each([
  ['manifests: ["domains/*(a|aa)*.yaml"]', 'without "*(" and "+("'],
  ['manifests: ["*a*a*a*a*a*.yaml"]', 'at most 5 "*"'],
  [`manifests: ['${'\\\\'.repeat(1001)}']`, 'a glob of 1 to 1000 characters'],
  [`manifests: [${list(101, (i) => `"d${i}/*.yaml", `)}]`, 'at most 100 globs, got 101'],
  ['guards: {protect: ["+(a*)b"]}', 'expected only "*"'],
  ['drift: {ignore: [{domain: "!(a)", item: https, reason: r}]}', 'expected only "*"'],
])('a glob that could take long is refused: %.50s', (line, detail) => {
  expect(() => createWorkspace({ 'edgewise.yaml': `version: 1\n${line}\n` })).toThrow(detail)
})

itLong('profiles that include all before them are refused for many lists', () => {
  const profiles = list(
    600,
    (i) => `---\nprofile: p${i}\nprofiles: [${list(i, (j) => `p${j}, `)}]\nconfig: {}\n`,
  )
  const users = list(300, (i) => `---\ndomain: d${i}.e.io\nprofiles: [p599, p${i}]\nconfig: {}\n`)
  const started = process.cpuUsage()
  const problems = describeProblems({ 'profiles/a.yaml': profiles, 'domains/a.yaml': users })
  expect(problems[0]).toContain(
    'manifest-invalid expected the different lists of profiles of all manifests to include at ' +
      'most 250000 profiles, got more',
  )
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000)
})

itLong('unknown items of a profile are not checked again for each manifest', () => {
  const users = list(3000, (i) => `---\ndomain: d${i}.e.io\nprofiles: [p]\nconfig: {}\n`)
  const started = process.cpuUsage()
  const problems = describeProblems({
    'profiles/a.yaml': `profile: p\nconfig: {${list(5000, (i) => `k${i}: 1, `)}}\n`,
    'domains/a.yaml': users,
  })
  expect(problems.at(-1)).toContain('too-many-problems')
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(20_000)
})

it('the page of manifests has the limits', () => {
  const page = readFileSync('docs/reference/manifests.md', 'utf8')
  const format = (limit: number) => limit.toLocaleString('en-US')
  const kibibyte = 1024
  for (const text of [
    `${inputLimits.textBytes / kibibyte} KiB`,
    `nesting, also in JSON | ${inputLimits.levels}`,
    `${format(inputLimits.marks)} values and signs`,
    `${inputLimits.replacedLength / kibibyte ** 2} MiB`,
    `${inputLimits.replacedInAll / kibibyte ** 2} MiB`,
    `include | ${format(inputLimits.layers)}`,
    `\`--target\` | ${format(inputLimits.matches)}`,
    `\`edgewise.yaml\` | ${format(inputLimits.matches)}`,
  ])
    expect(page).toContain(text)
})

it('a manifest with an error that is only counted is not clean', () => {
  const wrong = list(450, (i) => `---\ndomain: a${i}.e.io\nconfig: {}\nx: 1\n`)
  const valid = '---\ndomain: z.e.io\nconfig: {}\n'
  const { config, diagnostics } = createWorkspace({ 'domains/a.yaml': wrong + valid })
  expect(diagnostics.at(-1)).toMatchObject({ code: 'too-many-problems', count: 250 })
  const documents = parseYaml({ path: 'domains/a.yaml', text: wrong + valid }).documents
  const [home] = parseYaml({ path: 'edgewise.yaml', text: 'version: 1\n' }).documents
  const { clean } = assemble(config, home ?? expect.fail(), documents, plainKeeper)
  expect(clean.flatMap(({ domains }) => domains.map(({ domain }) => domain))).toEqual(['z.e.io'])
})
