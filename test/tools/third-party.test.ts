import type { Metafile } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { buildBillOfMaterials } from '../../tools/bill-of-materials.ts'
import { listBundledPackages, type LoadPackage } from '../../tools/bundled-packages.ts'
import { findLicenceProblems, findLicenceSection } from '../../tools/third-party.ts'

type Import = Metafile['inputs'][string]['imports'][number]
const to = (path: string, external = false): Import => ({
  path,
  kind: 'import-statement',
  external,
})

/** A bundle of own code, four packages in five folders, and one beside it. */
const files: Record<string, Import[]> = {
  'src/main.ts': [
    to('src/other.ts'),
    to('node_modules/a/index.js'),
    to('node:fs', true),
    to('fs', true),
    to('beside/part', true),
  ],
  'src/other.ts': [to('node_modules/@scope/b/lib/b.js'), to('node_modules/unused/index.js')],
  'node_modules/a/index.js': [
    to('node_modules/a/own.js'),
    to('node_modules/a/node_modules/c/c.js'),
    to('optional', true),
  ],
  'node_modules/a/own.js': [],
  'node_modules/a/node_modules/c/c.js': [],
  'node_modules/@scope/b/lib/b.js': [
    to('node_modules/c/c.js'),
    to('node_modules/b/node_modules/c/c.js'),
  ],
  'node_modules/b/node_modules/c/c.js': [],
  'node_modules/c/c.js': [],
  'node_modules/unused/index.js': [],
}
const metafile: Metafile = {
  inputs: Object.fromEntries(
    Object.entries(files).map(([path, imports]) => [path, { bytes: 9, imports }]),
  ),
  outputs: {
    'dist/main.js': {
      bytes: 9,
      imports: [],
      exports: [],
      inputs: Object.fromEntries(
        Object.keys(files).map((path) => [
          path,
          { bytesInOutput: path.includes('unused') ? 0 : 5 },
        ]),
      ),
    },
  },
}

const load: LoadPackage = (folder) => {
  const name = folder.replace(/^.*node_modules\//, '')
  if (name === 'optional') return null
  const integrity = name === 'c' ? null : `sha512-${Buffer.from(name).toString('base64')}`
  const version = folder.startsWith('node_modules/a/node_modules') ? '1.0.0' : '2.0.0+x'
  return { name, version, licence: 'MIT', licenceText: 'text', integrity }
}

const found = listBundledPackages(metafile, load)
const program = { name: 'own', version: '3.0.0', licence: 'Apache-2.0', imports: found.ownImports }

describe('the packages of a bundle', () => {
  it('are those whose code is in its files, and those that are imported beside it', () => {
    expect(found.packages.map((each) => [each.name, each.version, each.isBundled])).toEqual([
      ['@scope/b', '2.0.0+x', true],
      ['a', '2.0.0+x', true],
      ['beside', '2.0.0+x', false],
      ['c', '1.0.0', true],
      ['c', '2.0.0+x', true],
    ])
  })

  it('name what they import, without themselves and modules of Node', () => {
    expect(found.ownImports).toEqual(['@scope/b@2.0.0+x', 'a@2.0.0+x', 'beside@2.0.0+x'])
    expect(found.packages.map(({ imports }) => imports)).toEqual([
      ['c@2.0.0+x'],
      ['c@1.0.0'],
      [],
      [],
      [],
    ])
  })

  it('are refused without an allowed licence or its text', () => {
    const [first, , beside] = found.packages
    if (first === undefined || beside === undefined) throw new Error('expected packages')
    expect(findLicenceProblems(found.packages)).toEqual([])
    expect(
      findLicenceProblems([
        { ...first, licence: 'GPL-3.0-only' },
        { ...first, licence: '' },
        { ...first, licence: 'MIT OR GPL-2.0-only' },
        { ...first, licenceText: null },
        { ...beside, licenceText: null },
      ]),
    ).toEqual([
      expect.stringContaining('@scope/b 2.0.0+x: its licence "GPL-3.0-only" is none of'),
      expect.stringContaining('""'),
      expect.stringContaining('"MIT OR GPL-2.0-only"'),
      '@scope/b 2.0.0+x: it has no licence file',
    ])
  })
})

describe('the bill of materials', () => {
  const text = buildBillOfMaterials(program, found.packages)
  const bill = JSON.parse(text) as {
    serialNumber: string
    components: { 'bom-ref': string; purl: string; hashes?: { content: string }[] }[]
    dependencies: { ref: string; dependsOn: string[] }[]
  }
  const refs = bill.components.map((component) => component['bom-ref'])

  it('lists every bundled package once, with hash and URL', () => {
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { component: { purl: 'pkg:npm/own@3.0.0' } },
    })
    expect(refs).toEqual([
      'pkg:npm/%40scope/b@2.0.0%2Bx',
      'pkg:npm/a@2.0.0%2Bx',
      'pkg:npm/c@1.0.0',
      'pkg:npm/c@2.0.0%2Bx',
    ])
    expect(bill.components.map(({ hashes }) => hashes?.[0]?.content)).toEqual([
      Buffer.from('@scope/b').toString('hex'),
      Buffer.from('a').toString('hex'),
      undefined,
      undefined,
    ])
  })

  it('lists what each of them needs', () => {
    expect(bill.dependencies.map(({ ref }) => ref)).toEqual(['pkg:npm/own@3.0.0', ...refs])
    for (const { dependsOn } of bill.dependencies)
      expect(refs).toEqual(expect.arrayContaining(dependsOn))
    expect(bill.dependencies[0]?.dependsOn).toHaveLength(2)
  })

  it('is the same for the same packages, and has another number for others', () => {
    expect(buildBillOfMaterials(program, listBundledPackages(metafile, load).packages)).toBe(text)
    expect(text).not.toMatch(/timestamp|20\d\d-\d\d-\d\d/)
    expect(bill.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    expect(buildBillOfMaterials(program, found.packages.slice(1))).not.toContain(bill.serialNumber)
  })
})

describe('findLicenceSection', () => {
  it('finds the licence at the end of a README', () => {
    expect(findLicenceSection('# a\n\n## License\n\nCopyright (c) B\n\nFree.\n')).toBe(
      'Copyright (c) B\n\nFree.',
    )
  })

  it.each(['# a\n', '# a\n## License\nMIT\n', '# a\n## License\nCopyright B\n## Use\nIt.\n'])(
    'finds none in %j',
    (readme) => expect(findLicenceSection(readme)).toBeNull(),
  )
})
