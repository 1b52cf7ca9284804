import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import ignore from 'ignore'
import { describe, expect, it } from 'vitest'
import { identify, unidentified } from '../../src/core/model/people/identity.ts'
import { listApprovable } from '../../src/core/model/people/roles.ts'
import { parseCodeOwners } from '../../src/manifest/owners/code-owners.ts'
import { loadWorkspace } from '../../src/manifest/manifests/load-workspace.ts'
import { createOwnerLookup, listOwnerRoles } from '../../src/operations/people/owners.ts'
import { plainKeeper } from '../manifest/test-workspace.ts'
import { fc, itLong, itOften, runs } from '../runs.ts'

describe('CODEOWNERS', () => {
  it('gives a file the owners of the last pattern that matches', () => {
    const find = parseCodeOwners(
      '# comment\n* @acme/all\n/domains/ @acme/cdn ada@example.com # inline\n' +
        'domains/video/*.yaml @acme/video\n/with\\ blank/ @x\n/nobody/\n!domains/ @y\n',
    )
    expect(find('README.md')).toEqual(['@acme/all'])
    expect(find('domains/www.yaml')).toEqual(['@acme/cdn', 'ada@example.com'])
    expect(find('domains/video/a.yaml')).toEqual(['@acme/video'])
    expect(find('domains/video/deep/a.yaml')).toEqual(['@acme/cdn', 'ada@example.com'])
    expect(find('with blank/x')).toEqual(['@x'])
    expect(find('nobody/x')).toEqual([])
  })

  it('has sections, each with owners of its own', () => {
    const find = parseCodeOwners(
      '* @all\n[Video][2] @video\n/domains/video/\n^[Docs]\n*.md @docs\n',
    )
    expect(find('domains/video/a.yaml')).toEqual(['@all', '@video'])
    expect(find('a.md')).toEqual(['@all', '@docs'])
  })

  it('merges sections of one name, in any case, of which the last match decides', () => {
    const find = parseCodeOwners(
      '[Dev Ops] @ops\n*.yaml\n[Docs]\n*.md @docs\n^[dev ops][2] @lead\n/domains/\n' +
        '/tests/ @qa\n[codeowners]\n/tests/ @all\n',
    )
    expect(find('a.yaml')).toEqual(['@ops'])
    expect(find('domains/a.yaml')).toEqual(['@lead'])
    expect(find('tests/a.yaml')).toEqual(['@all', '@qa'])
    expect(find('tests/a.md')).toEqual(['@all', '@qa', '@docs'])
    expect(parseCodeOwners('* @x\n[codeowners]\n* @y\n')('a')).toEqual(['@y'])
  })

  itOften('loses no match where it tells paths apart by the plain texts of a pattern', () => {
    const paths = listPaths(['a', 'b', 'ab', 'a.b', 'A', '[a'])
    const parts = ['a', 'b', '*', '?', '/', '**', '[ab]', '[!a]', '\\a', '.', '[', ']', 'A']
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 8 }), (chosen) => {
        // One that begins with a bracket is a section.
        const pattern = `${chosen[0]?.startsWith('[') === true ? '/' : ''}${chosen.join('')}`
        const find = parseCodeOwners(`${pattern} @x`)
        const found = paths.filter((path) => find(path).length > 0)
        const all = ignore({ ignorecase: false }).add(pattern)
        expect(found, pattern).toEqual(paths.filter((path) => all.ignores(path)))
      }),
      { numRuns: runs(100, 3000), examples: [[['a', '/']], [['/', 'a']], [['b', '/', 'a', '/']]] },
    )
  })

  itLong('has 10,000 patterns that are matched with 3,000 files in a second or two', () => {
    const paths = Array.from({ length: 3000 }, (_, i) => `domains/team-${i % 30}/shop-${i}.yaml`)
    const patterns: ((i: number) => string)[] = [
      (i) => `/domains/team-${i % 30}/shop-${i}.yaml`,
      (i) => `/domains/team-${i}/`,
      (i) => `/domains/team-${i}*/*.yaml`,
      (i) => `*-${i}.yaml`,
      (i) => `domains/**/shop-[0-9]${i}*`,
    ]
    for (const format of patterns) {
      const text = Array.from({ length: 10_000 }, (_, i) => `${format(i)} @team-${i}\n`).join('')
      const begin = process.cpuUsage()
      const find = parseCodeOwners(text)
      for (const path of paths) find(path)
      const seconds = process.cpuUsage(begin).user / 1e6
      const megabytes = Math.round(process.memoryUsage().rss / 1e6)
      console.log(`${format(1)}: ${seconds.toFixed(1)} s, ${megabytes} MB`)
      // Each pattern asked about each file took 76 s and 3.4 GB.
      expect(seconds).toBeLessThan(8)
    }
  })

  itLong('is read in time whatever is in it', () => {
    const hostile = `${'a'.repeat(5000)}${'\\'.repeat(5000)} ${'*'.repeat(50)}/x @a\n`.repeat(50)
    const begin = process.cpuUsage()
    parseCodeOwners(hostile)(`${'a'.repeat(200)}/y`)
    expect(process.cpuUsage(begin).user / 1e6).toBeLessThan(5)
  })
})

/** Lists paths of up to three of these steps. */
function listPaths(steps: string[]): string[] {
  const longer = (paths: string[]) => paths.flatMap((path) => steps.map((s) => `${path}/${s}`))
  return [...steps, ...longer(steps), ...longer(longer(steps))]
}

/** Loads a workspace in the folder `cdn` of a repository with these files. */
function load(files: Record<string, string>) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'owners-')))
  execFileSync('git', ['init', '--quiet'], { cwd: top })
  for (const [path, text] of Object.entries({ 'cdn/edgewise.yaml': 'version: 1\n', ...files })) {
    mkdirSync(dirname(join(top, path)), { recursive: true })
    writeFileSync(join(top, path), text)
  }
  return loadWorkspace(join(top, 'cdn'), {}, () => plainKeeper)
}

const person = (name: string, ...groups: string[]) =>
  identify('oidc', name, { groups, email: name }) ?? unidentified
const config = 'config: {timeout: {time: 60}}\n'
const files = {
  CODEOWNERS: '/cdn/domains/ @acme/cdn\n/cdn/domains/ada.yaml ada@example.com @acme/cdn\n',
  'cdn/domains/www.yaml': `domain: www.example.com\n${config}`,
  'cdn/domains/ada.yaml': `domain: ada.example.com\n${config}`,
  'cdn/domains/video.yaml': `domain: video.example.com\nowners: [team-video]\n${config}`,
}

describe('the owners of domains', () => {
  it('are those of the manifest, or else of its file in CODEOWNERS', () => {
    const find = createOwnerLookup(load(files))
    expect(find('video.example.com')).toEqual(['team-video'])
    expect(find('ada.example.com')).toEqual(['ada@example.com', 'acme/cdn'])
    expect(find('www.example.com')).toEqual(['acme/cdn'])
    expect(find('other.example.com')).toEqual([])
    expect(createOwnerLookup(load({ ...files, CODEOWNERS: '' }))('www.example.com')).toEqual([])
  })

  it('may approve what they own, and nothing else', () => {
    const rules = listOwnerRoles(load(files))
    const all = ['ada.example.com', 'video.example.com', 'www.example.com']
    const may = (identity: Parameters<typeof listApprovable>[0]) =>
      listApprovable(identity, all, rules)
    expect(may(person('Ada@example.com'))).toEqual(['ada.example.com'])
    expect(may(person('eve@example.com', 'team-video'))).toEqual(['video.example.com'])
    expect(may(person('team-video'))).toEqual([])
    expect(may(person('eve@example.com', 'ada@example.com'))).toEqual([])
    expect(may(identify('ci', 'team-video') ?? unidentified)).toEqual([])
    expect(may(person('x@example.com', 'acme/cdn'))).toEqual(['ada.example.com', 'www.example.com'])
  })

  it.each([
    ['owners: team-video', 'expected a list of groups and users, got', 'Write "[team-video]".'],
    ['owners: [1]', 'expected the name of a group, or the address of a user', '/owners/0'],
    ['owners: [" a"]', 'expected the name of a group', '/owners/0'],
    [`owners: [${'a,'.repeat(21)}]`, 'expected at most 20 owners, got 21', '/owners'],
  ])('must be a short list of names: %s', (text, detail, more) => {
    const { diagnostics } = load({
      'cdn/domains/a.yaml': `domain: a.example.com\n${text}\n${config}`,
    })
    expect(diagnostics).toHaveLength(1)
    expect(JSON.stringify(diagnostics[0])).toContain(detail)
    expect(JSON.stringify(diagnostics[0]).replaceAll('\\"', '"')).toContain(more)
  })
})
