import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Metafile } from 'esbuild'
import { describe, expect, it } from 'vitest'
import * as effectsAssets from '../../src/outlets/report/page/generated/effects-assets.ts'
import * as pageAssets from '../../src/outlets/report/page/generated/page-assets.ts'
import { metafileUrl, root } from '../../tools/bundle.ts'
import { findPackageProblems, maxPackageBytes } from '../../tools/package-contents.ts'
import { describeThirdParty } from '../../tools/third-party.ts'
import { itLong } from '../runs.ts'

const metafile = JSON.parse(readFileSync(metafileUrl, 'utf8')) as Metafile

/** What Node loads with the file of an entry: the files, their bytes, the modules in them. */
function listLoaded(...entries: string[]): { files: string[]; bytes: number; modules: string[] } {
  const files = new Set<string>()
  const add = (path: string) => {
    if (files.has(path)) return
    files.add(path)
    for (const { path: to, kind, external = false } of metafile.outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && !external) add(to)
  }
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs))
    if (entryPoint !== undefined && entries.includes(entryPoint)) add(path)
  const outputs = [...files].flatMap((path) => metafile.outputs[path] ?? [])
  return {
    files: [...files],
    bytes: outputs.reduce((sum, { bytes }) => sum + bytes, 0),
    modules: outputs.flatMap(({ inputs }) =>
      Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0),
    ),
  }
}

/** Packages that checking manifests needs rarely or never. */
const rare = (
  'ajv @marcbachmann/cel-js fdir highs p-queue pg picomatch simple-git string-width ' +
  'tinyglobby undici yaml'
).split(' ')
const isOf = (path: string, packages: string[]) =>
  packages.some((name) => path.includes(`node_modules/${name}/`))

const [main, program] = ['src/cli/main.ts', 'src/cli/run-process.ts']

describe('the files that Node loads', () => {
  it('for --version are small', () => {
    const { files, bytes, modules } = listLoaded(main)
    expect(modules).toContain('src/cli/package-files.ts')
    expect(bytes).toBeLessThan(18_000)
    expect(files.length).toBeLessThan(4)
  })

  it('export values, not functions that return them', () => {
    const paths = Object.keys(metafile.outputs).filter((path) => path.endsWith('.cjs'))
    const texts = paths.map((path) => readFileSync(new URL(path, root), 'utf8'))
    const withExports = texts.filter((text) => /(?<![\w$.])module\.exports=\{/.test(text))
    expect(withExports.length).toBeGreaterThan(100)
    expect(
      texts.filter((text) => text.replaceAll('\n', '').includes('__export(stdin_exports')),
    ).toEqual([])
  })

  itLong('have each value that they export once they are loaded', () => {
    const chunks = new URL('dist/chunks/', root)
    const names = readdirSync(chunks).filter((name) => name.endsWith('.cjs'))
    const list = `for (const name of ${JSON.stringify(names)}) {
      const found = Object.getOwnPropertyDescriptors(require('./' + name))
      for (const [key, { get, value }] of Object.entries(found))
        console.log(get !== undefined ? 'getter' : value === undefined ? name + ' ' + key : 'value')
    }`
    const options = { cwd: chunks, encoding: 'utf8', env: {} } as const
    const found = execFileSync(process.execPath, ['-e', list], options).trim().split('\n')
    const counts = { values: 0, getters: 0, missing: [] as string[] }
    for (const each of found)
      if (each === 'value') counts.values++
      else if (each === 'getter') counts.getters++
      else counts.missing.push(each)
    expect(counts.missing).toEqual([])
    expect(counts.values).toBeGreaterThan(4 * counts.getters)
  })

  it('for --help declare the commands only', () => {
    const { files, bytes, modules } = listLoaded(main, program)
    expect(modules).toContain('src/cli/commands/validate.ts')
    const heavy = /^src\/(?:core\/(?:catalog\/catalogue|plan)|manifest)\b|\/generated\//
    const packages = ['ajv', 'yaml', 'picomatch']
    expect(modules.filter((path) => heavy.test(path) || isOf(path, packages))).toEqual([])
    expect(bytes).toBeLessThan(210_000)
    expect(files.length).toBeLessThan(7)
  })

  it.each([
    // With the checks of rule lists.
    ['src/cli/validate.ts', 1_210_000, 23],
    ['src/cli/completion/complete-words.ts', 960_000, 11],
  ])(
    'for %s are few, without planner, apply, emulator and solver',
    (command, maxBytes, maxCount) => {
      const { files, bytes, modules } = listLoaded(main, program, command)
      expect(modules).toContain('src/manifest/manifests/load-workspace.ts')
      const own = /^src\/(?:core\/plan|emulator|engine|service\/write)\/|\/state-validators/
      expect(modules.filter((path) => own.test(path) || isOf(path, rare))).toEqual([])
      expect(bytes).toBeLessThan(maxBytes)
      expect(files.length).toBeLessThan(maxCount)
    },
  )
})

describe('the renderers of reports', () => {
  it('are loaded by a command that writes such a report only', () => {
    const { modules } = listLoaded(main, program, 'src/cli/reports.ts')
    expect(modules).toContain('src/cli/report-formats/formats.ts')
    expect(modules.filter((path) => /report-formats\/(?!formats)/.test(path))).toEqual([])
    const page = /html\.ts|\/page\//
    const { modules: forText } = listLoaded('src/cli/report-formats/markdown.ts')
    expect(forText.filter((path) => page.test(path))).toEqual([])
  })
})

describe('the SDK of traces', () => {
  it('is imported by files of its own, which are loaded on demand', () => {
    const importers = Object.values(metafile.outputs).flatMap(({ entryPoint = '', imports }) =>
      imports.some(({ path, external = false }) => external && path.startsWith('@opentelemetry/'))
        ? entryPoint
        : [],
    )
    expect(importers.toSorted()).toEqual(['src/outlets/telemetry/sdk.ts'])
    for (const command of ['src/cli/validate.ts', 'src/operations/apply.ts', 'src/cli/serve.ts']) {
      const { modules } = listLoaded(main, program, command)
      expect(modules).toContain(command)
      expect(modules.filter((path) => /outlets\/telemetry\/(?!settings)/.test(path))).toEqual([])
    }
  })
})

describe('the SDK of the protocol of assistants', () => {
  it('is loaded by its command only', () => {
    const packages = ['@modelcontextprotocol/sdk', 'zod', 'ajv']
    const entries = Object.values(metafile.outputs).flatMap(({ entryPoint = '' }) => entryPoint)
    const loading = entries.filter(
      (entry) =>
        entry.startsWith('src/') && listLoaded(entry).modules.some((path) => isOf(path, packages)),
    )
    expect(loading).toEqual(['src/cli/mcp/serve-stdio.ts'])
  })
})

describe('the modules of Node', () => {
  it('are loaded without import, which would read all their properties', () => {
    const { files } = listLoaded(main, program, 'src/cli/validate.ts')
    const code = files.map((path) => readFileSync(new URL(path, root), 'utf8')).join('\n')
    expect(code).toMatch(/\bprocess\s*\.\s*getBuiltinModule\(\s*"fs"\s*\)/)
    // Long lines are broken within texts, too.
    expect(code.replaceAll('\\\n', '').match(/\brequire\("(?![./]|node:)/g)).toBeNull()
  })
})

describe('the packages in the bundle', () => {
  it('have no native variant of pg, which would be loaded from beside the program', () => {
    const [chunk = ''] = Object.entries(metafile.outputs).flatMap(([path, { inputs }]) =>
      'node_modules/pg/lib/client.js' in inputs ? path : [],
    )
    const code = readFileSync(new URL(chunk, root), 'utf8')
    expect(code).not.toMatch(/["'`](?:pg-native|cloudflare:sockets)["'`]|FORCE_NATIVE/)
  })

  it('each have a reason in docs/internals/architecture.md', () => {
    const page = readFileSync(new URL('docs/internals/architecture.md', root), 'utf8')
    const [, section = ''] = page.split('\n### Packages in the bundle\n')
    const [list = ''] = section.split('\n#')
    const named = list.split('\n- ').flatMap((row) => {
      const [cell = '', reason = ''] = row.split(': ')
      const found = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
      return /[a-z]/.test(reason) ? found : []
    })
    const explained = new Set(named)
    // A set also visits what is added meanwhile: the dependencies of dependencies.
    for (const name of explained)
      for (const dependency of listDependencies(name)) explained.add(dependency)
    const names = describeThirdParty(metafile).packages.map(({ name }) => name)
    expect(names.length).toBeGreaterThan(20)
    expect([...new Set(names)].filter((name) => !explained.has(name))).toEqual([])
    expect(named.filter((name) => !names.includes(name))).toEqual([])
  })
})

/** Lists the direct dependencies of an installed package; none if only others bring it. */
function listDependencies(name: string): string[] {
  const file = new URL(`node_modules/${name}/package.json`, root)
  if (!existsSync(file)) return []
  const { dependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
    dependencies?: Record<string, string>
  }
  return Object.keys(dependencies)
}

describe('the bill of materials', () => {
  const { components } = JSON.parse(readFileSync(new URL('dist/bom.cdx.json', root), 'utf8')) as {
    components: { group?: string; name: string; version: string }[]
  }
  const listed = components.map(
    ({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`,
  )

  it('lists each package whose code is in a file of the program, and no other', () => {
    const code = readdirSync(new URL('dist/', root), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.c?js$/.test(path))
      .map((path) => `dist/${path.replaceAll('\\', '/')}`)
    const pages = Object.keys({ ...pageAssets, ...effectsAssets }).length
    const outputs = Object.keys(metafile.outputs)
    expect(outputs.filter((path) => path.startsWith('dist/')).toSorted()).toEqual(code.toSorted())
    expect(outputs.filter((path) => path.startsWith('page/'))).toHaveLength(pages)
    const folders = Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => {
        const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? []
        return folder === undefined || bytesInOutput === 0 ? [] : folder
      }),
    )
    const shipped = [...new Set(folders)].map((folder) => {
      const text = readFileSync(new URL(`${folder}/package.json`, root), 'utf8')
      const { name, version } = JSON.parse(text) as { name: string; version: string }
      return `${name}@${version}`
    })
    expect(shipped).toEqual(expect.arrayContaining(['highs@1.15.3']))
    expect(listed.toSorted()).toEqual([...new Set(shipped)].toSorted())
  })
})

describe('the check of the package', () => {
  const files = Object.keys({
    'package.json': 0,
    'README.md': 0,
    'docs/guides/rollouts.md': 0,
    'examples/storefront/domains/shop.yaml': 0,
    'schemas/items/https.schema.json': 0,
    'dist/cli/main.js': 0,
    'dist/cli/package.json': 0,
    'dist/runtime/worker.cjs': 0,
    'dist/leader/pulse-thread.cjs': 0,
    'dist/chunks/run-process-3QFHTZ2A.cjs': 0,
    'dist/chunks/highs.wasm.br': 0,
    'dist/chunks/yaml.cjs': 0,
    'dist/index.d.ts': 0,
  }).map((path) => ({ path, size: 1000 }))

  it('accepts the files of the program, its types and pages', () => {
    expect(findPackageProblems(files)).toEqual([])
  })

  it.each([
    'dist/cli/main.js.map',
    'dist/chunks/highs.wasm',
    'dist/chunks/yaml.js',
    'dist/package.json',
    'dist/plan/cover/bound.js',
    'dist/plan/bound.d.ts',
    'docs/notes.txt',
    'src/index.ts',
    '.env',
    'test/runs.ts',
  ])('refuses %s', (path) => {
    expect(findPackageProblems([...files, { path, size: 1 }])).toEqual([
      `${path} does not belong into the package`,
    ])
  })

  it('refuses a package that is too large', () => {
    const large = { path: 'dist/index.js', size: maxPackageBytes }
    expect(findPackageProblems([...files, large])).toEqual([
      `the package has ${maxPackageBytes + 13_000} bytes, more than ${maxPackageBytes}`,
    ])
  })
})
