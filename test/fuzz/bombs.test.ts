// @module-tag often
// @module-tag nightly
import { expect, it } from 'vitest'
import { everyNth, itLong, seed } from '../runs.ts'
import { buildOne, home, list, nameDomain, writeManifest, type Bomb } from './bombs/bomb.ts'
import { findExcess, measureBomb } from './bombs/measure-bomb.ts'
import { bombKinds, runBombs } from './bombs/run-bombs.ts'

const many = 3000
const names = list(many, (i) => `- ${nameDomain(i)}\n`)
const domains = `domains:\n${names}config: {https: {cert_id: 1}}\n`
const globs = (write: (glob: string) => string) =>
  list(many, (i) => write(`"*${i}.example.net"`), ', ')
const headers = list(60, (i) => `{name: X${i}, value: "${'${var:v}'.repeat(5000)}"}`, ', ')

const figures: Record<string, { bomb: Bomb; sentence: string }> = {
  'an expression of 100,000 [[:': {
    bomb: buildOne(writeManifest(`  deny_url: {urls: ["^${'[[:'.repeat(100_000)}"]}\n`)),
    sentence: 'domains/a.yaml:3:21 error This is not valid YAML expected a text of at most 64 KiB',
  },
  '100,000 references without an end': {
    bomb: buildOne(writeManifest(`  deny_url: {urls: ["${'${secret:'.repeat(100_000)}"]}\n`)),
    sentence: 'expected a text of at most 64 KiB, got 879 KiB. Shorten it.',
  },
  'a variable 5,000 times in 60 fields': {
    bomb: buildOne(
      `domain: www.example.com\nvars: {v: ${'x'.repeat(5000)}}\n` +
        `config:\n  add_response_head: {list: [${headers}]}\n`,
    ),
    sentence: 'expected at most 1 MiB of text of one domain after references are replaced',
  },
  '3,000 rules of drift for 3,000 domains': {
    bomb: buildOne(
      domains,
      `drift: {ignore: [${globs((glob) => `{domain: ${glob}, item: https, reason: r}`)}]}\n`,
    ),
    sentence: 'expected at most 1000000 pairs of a glob and a domain, got 9000000',
  },
  '3,000 protected globs for 3,000 domains': {
    bomb: buildOne(domains, `guards: {protect: [${globs((glob) => glob)}]}\n`),
    sentence: 'expected at most 1000000 pairs of a glob and a domain, got 9000000',
  },
  '4.9 million brackets': {
    bomb: buildOne(writeManifest(`  https: ${'['.repeat(4_900_000)}\n`)),
    sentence: 'domains/a.yaml:3:72 error This is not valid YAML expected at most 64 levels',
  },
}

/** Far more than each takes, and far less than it took. */
const maxOfFigure = { cpu: 5, memory: 400 }

it.each(Object.entries(figures))('%s ends at once with a sentence', (_name, { bomb, sentence }) => {
  const [cost] = measureBomb({ ...bomb, commands: [['validate']] })
  expect(cost?.output.replace(/\s+/g, ' ')).toContain(sentence)
  expect(cost).toMatchObject({ code: 1 })
  expect(cost?.cpu).toBeLessThan(maxOfFigure.cpu)
  expect(cost?.memory).toBeLessThan(maxOfFigure.memory)
})

it('a cost beyond the bounds, a crash and a silent failure are found', () => {
  const cost = { command: [], cpu: 1, wall: 1, memory: 100, code: 1, output: 'error: x' }
  expect(findExcess(cost)).toBeNull()
  expect(findExcess({ ...cost, cpu: 11, wall: 30 })).toBe('took 11.0 s')
  expect(findExcess({ ...cost, cpu: 30, wall: 9 })).toBeNull()
  expect(findExcess({ ...cost, memory: 1001 })).toBe('took 1001 MB')
  expect(findExcess({ ...cost, code: 137 })).toBe('ended with 137')
  expect(findExcess({ ...cost, output: '' })).toBe('said nothing')
  expect(findExcess({ ...cost, output: 'x\n    at run (file.js:1:2)' })).toBe('internal error')
})

// The machine of a test may be slow and busy: `npm run fuzz -- --bombs` has the bound itself.
const slack = 3

itLong('bombs end within a few times 10 seconds, and 1 GB', () => {
  const failures: string[] = []
  const kinds = everyNth(bombKinds, 4)
  expect(kinds.length).toBeGreaterThan(0)
  for (const kind of kinds)
    for (const { name, cost, excess } of runBombs(seed, `${kind}:0`))
      if (excess !== null && findExcess({ ...cost, cpu: cost.cpu / slack }) !== null)
        failures.push(`${name} ${cost.command.join(' ')}: ${excess}`)
  expect(failures).toEqual([])
})

it('a workspace without any excess passes', () => {
  const [cost] = measureBomb({
    files: { 'edgewise.yaml': home, 'domains/a.yaml': domains },
    commands: [['validate']],
  })
  expect(cost).toMatchObject({
    code: 0,
    output: expect.stringContaining('3,000 domains') as string,
  })
})
