import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Plugin } from 'esbuild'

const resolveDir = fileURLToPath(new URL('../', import.meta.url))

/** Packages with one function that most runs never call. */
const rarelyCalled = ['string-width']

/** Evaluates the modules of rarely called packages at the first call of their function. */
const loadOnFirstCall: Plugin = {
  name: 'load-on-first-call',
  setup: ({ onResolve, onLoad }) => {
    const filter = new RegExp(`^(?:${rarelyCalled.join('|')})$`)
    onResolve({ filter }, ({ path, kind, namespace }) =>
      kind === 'import-statement' && namespace === 'file' ? { path, namespace: 'rare' } : null,
    )
    // The bundler evaluates a module that is loaded with "require" only there.
    onLoad({ filter, namespace: 'rare' }, ({ path }) => ({
      contents: `let call
        export default (...args) => (call ??= require('${path}').default)(...args)`,
      resolveDir,
    }))
  },
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

/** Plugins for packages that are bundled in a way of their own. */
export const packagePlugins = [loadOnFirstCall, loadNothingBeside, unpackSolver]
