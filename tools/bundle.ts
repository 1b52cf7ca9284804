import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Metafile, type Plugin } from 'esbuild'

/** Folder of the repository. */
export const root = new URL('../', import.meta.url)

/** Bundles the program and the library into `dist`, or only computes what would be in the files. */
export async function bundle({ write }: { write: boolean }): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: {
      'action/main': 'src/action/main.ts',
      'cli/main': 'src/cli/main.ts',
      index: 'src/index.ts',
      'operations/worker': 'src/operations/worker.ts',
    },
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // A bundled package would print the environment of git, tokens included, where DEBUG is set.
    define: { 'process.env.DEBUG': 'undefined' },
    // Bundled CommonJS packages call `require` for Node's own modules.
    plugins: [loadOnFirstCall],
    banner: {
      js:
        "import { createRequire as __createRequire } from 'node:module'; " +
        'const require = __createRequire(import.meta.url);',
    },
    legalComments: 'none',
    metafile: true,
    write,
    logLevel: 'warning',
  })
  // The solver's code loads its WebAssembly from its own folder.
  if (write)
    cpSync(
      new URL('node_modules/highs/build/highs.wasm', root),
      new URL('dist/chunks/highs.wasm', root),
    )
  return metafile
}

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
      contents: `let call; export default (...args) => (call ??= require('${path}').default)(...args)`,
      resolveDir: fileURLToPath(root),
    }))
  },
}
