import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Metafile } from 'esbuild'

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
