import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild'

const resolveDir = fileURLToPath(new URL('../', import.meta.url))

/** Functions of a package: those that it exports, and how its default export is called. */
interface RarePackage {
  /** How it is imported; by its name otherwise. */
  from?: string
  /** Path of a module of the program, which is no package. */
  module?: string
  call?: string
  functions: string[]
  classes?: string[]
}

/** Packages that most runs never call, with what the program uses of them, by their files. */
const rarelyCalled: Record<string, RarePackage> = {
  // For values with faults.
  'schema-faults': {
    from: './schema-faults.ts',
    module: './src/core/catalog/generated/schema-faults.ts',
    functions: [
      'createItemFaults',
      'createPolicyFaults',
      'createTestFaults',
      'createWorkspaceFaults',
    ],
  },
  // For JavaScript's expressions in traces.
  regexpp: { from: '@eslint-community/regexpp', functions: [], classes: ['RegExpParser'] },
  // Opens the stream of stdout.
  picocolors: { call: 'load()', functions: ['createColors'] },
  picomatch: { call: 'load()', functions: ['scan'] },
  'string-width': { call: 'load().default', functions: [] },
  tinyglobby: { functions: ['globSync'] },
  yaml: {
    functions: [
      'isAlias',
      'isCollection',
      'isMap',
      'isNode',
      'isScalar',
      'isSeq',
      'parseAllDocuments',
      'stringify',
      'visit',
    ],
    classes: ['Lexer'],
  },
}
const rare = 'rarely-called'

/**
 * Loads rarely called packages from files of their own, at the first call of a function. Only
 * `require` can load a file within a call, and it needs CommonJS.
 */
const loadOnFirstCall: Plugin = {
  name: 'load-on-first-call',
  setup: ({ onResolve, onLoad }) => {
    const imported = Object.entries(rarelyCalled).map(
      ([name, { from = name }]) => [from, name] as const,
    )
    const names = new Map(imported)
    onResolve({ filter: /./ }, ({ path, kind, namespace }) => {
      const name = names.get(path)
      return name !== undefined && kind === 'import-statement' && namespace === 'file'
        ? { path: name, namespace: rare }
        : null
    })
    onLoad({ filter: /./, namespace: rare }, ({ path }) => {
      const { call, functions = [], classes = [] } = rarelyCalled[path] ?? {}
      const load = `process.getBuiltinModule('module').createRequire(import.meta.url)`
      const contents = [
        'let loaded',
        `const load = () => (loaded ??= ${load}('./${path}.cjs'))`,
        ...functions.map((name) => `export const ${name} = (...args) => load().${name}(...args)`),
        ...classes.map(
          (name) => `export function ${name}(...args) { return new (load().${name})(...args) }`,
        ),
      ]
      if (call !== undefined)
        contents.push(
          `export default Object.assign((...args) => ${call}(...args), { ${functions.join()} })`,
        )
      return { contents: contents.join('\n') }
    })
  },
}

/** Bundles the rarely called packages. */
export async function bundleRarelyCalled(options: BuildOptions): Promise<Metafile> {
  const { metafile } = await build({
    ...options,
    entryPoints: Object.fromEntries(
      Object.entries(rarelyCalled).map(([name, { from = name, module = from }]) => [
        `chunks/${name}`,
        module,
      ]),
    ),
    splitting: false,
    minifyIdentifiers: true,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    define: { ...options.define, 'import.meta.url': '""' },
    plugins: [loadNothingBeside],
    metafile: true,
  })
  return metafile
}

/** Joins what is known about bundles, of which the first one loads rarely called packages. */
export function joinMetafiles(first: Metafile, others: Metafile[]): Metafile {
  const inputs: Metafile['inputs'] = Object.assign(
    {},
    ...others.map((each) => each.inputs),
    first.inputs,
  )
  const outputs: Metafile['outputs'] = Object.assign(
    {},
    first.outputs,
    ...others.map((each) => each.outputs),
  )
  for (const name of Object.keys(rarelyCalled)) {
    const path = outputs[`dist/chunks/${name}.cjs`]?.entryPoint ?? name
    inputs[`${rare}:${name}`]?.imports.push({ path, kind: 'require-call' })
  }
  return { inputs, outputs }
}

/**
 * Keeps `fdir` from loading the `picomatch` of a folder above the program, for which it looks at
 * its start: a bundle must not run code from beside it, and `tinyglobby` passes its own.
 */
const loadNothingBeside: Plugin = {
  name: 'load-nothing-beside',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^module$/ }, ({ importer }) =>
      /\/node_modules\/fdir\//.test(importer) ? { path: 'fdir', namespace: 'beside' } : null,
    )
    onLoad({ filter: /^fdir$/, namespace: 'beside' }, () => ({
      contents: `const refuse = () => { throw new Error('not in the bundle') }
        export const createRequire = () => Object.assign(refuse, { resolve: refuse })`,
    }))
  },
}

/** File of the solver's WebAssembly beside the chunks, with 1.0 instead of 3.5 MB. */
export const packedSolver = 'highs.wasm.br'

/** Compresses the WebAssembly of the solver. */
export function compressSolver(): Uint8Array {
  const code = readFileSync(`${resolveDir}node_modules/highs/build/highs.wasm`)
  const { BROTLI_PARAM_LGWIN: window, BROTLI_PARAM_QUALITY: quality } = constants
  // The best quality takes ten seconds for 15 % less.
  return brotliCompressSync(code, { params: { [window]: 24, [quality]: 9 } })
}

/** Loads the solver's WebAssembly from the compressed file. */
const unpackSolver: Plugin = {
  name: 'unpack-solver',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^highs$/ }, ({ path, namespace }) =>
      namespace === 'file' ? { path, namespace: 'packed' } : null,
    )
    onLoad({ filter: /^highs$/, namespace: 'packed' }, () => ({
      contents: `
        import { readFile } from 'node:fs/promises'
        import { promisify } from 'node:util'
        import { brotliDecompress } from 'node:zlib'
        import loadSolver from 'highs'
        export default async () => {
          const packed = await readFile(new URL('${packedSolver}', import.meta.url))
          const code = await WebAssembly.compile(await promisify(brotliDecompress)(packed))
          return loadSolver({
            instantiateWasm: (imports, done) => done(new WebAssembly.Instance(code, imports)),
          })
        }`,
      resolveDir,
    }))
  },
}

/**
 * Leaves out the parts of `pg` for a native library and for another runtime, and those for
 * exemplars in `prom-client`, whose `require` would have every start load all of the API of traces.
 */
const dropUnused: Plugin = {
  name: 'drop-unused',
  setup: ({ onResolve, onLoad }) => {
    onResolve(
      { filter: /^(?:\.\/native|pg-cloudflare|@opentelemetry\/api)$/ },
      ({ path, importer }) =>
        /\/node_modules\/(?:pg|prom-client)\/lib\//.test(importer)
          ? { path, namespace: 'dropped' }
          : null,
    )
    onLoad({ filter: /./, namespace: 'dropped' }, ({ path }) => ({
      // What `prom-client` requires is loaded with it, and not used.
      contents: path.startsWith('@') ? '' : `throw new Error('${path} is not in the bundle')`,
    }))
  },
}

/** Writes generated schemas as JSON, which a run parses sooner than literals. */
const packSchemas: Plugin = {
  name: 'pack-schemas',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/generated\/(?:file-)?schemas\.ts$/ }, async ({ path }) => {
      const exports = Object.entries((await import(path)) as Record<string, unknown>)
      const pack = (value: unknown) => JSON.stringify(JSON.stringify(value))
      return {
        contents: exports
          .map(
            ([name, value]) => `export const ${name} = /* @__PURE__ */ JSON.parse(${pack(value)})`,
          )
          .join('\n'),
      }
    })
  },
}

/** Plugins for what is bundled in a way of its own. */
export const packagePlugins = [loadOnFirstCall, unpackSolver, dropUnused, packSchemas]
