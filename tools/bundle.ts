import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild'
import { compressSolver, packagePlugins, packedSolver } from './bundle-packages.ts'

/** Folder of the repository. */
export const root = new URL('../', import.meta.url)

/** What the last build put into which file, for tests. */
export const metafileUrl = new URL('node_modules/.cache/edgewise/metafile.json', root)

const options = {
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
  // Names stay, for stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 200,
  // A bundled package would print the environment of git, tokens included, where DEBUG is set.
  define: { 'process.env.DEBUG': 'undefined' },
  // Bundled CommonJS packages call `require` for Node's own modules.
  banner: { js: 'const require = process.getBuiltinModule;' },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

/** Bundles the program and the library into `dist`, or only computes what would be in the files. */
export async function bundle({ write }: { write: boolean }): Promise<Metafile> {
  const { metafile: split } = await build({
    ...options,
    plugins: packagePlugins,
    write: false,
  })
  const { metafile } = await build({
    ...options,
    plugins: [...packagePlugins, joinModules(planJoins(split))],
    write,
  })
  if (write) writeFileSync(new URL(`dist/chunks/${packedSolver}`, root), compressSolver())
  return metafile
}

/** Entry of the program; it imports commands on demand. */
const program = 'src/cli/run-process.ts'
/** Modules that nearly every command loads, with all that they import. */
const core = ['src/operations/load-workspace.ts', 'src/cli/completion/list-domains.ts']
/** The part of the core that those have in common who need some of it. */
const heart = 'src/catalog/catalogue.ts'

/**
 * Plans which modules import others first, so that few chunks hold what most commands load: those
 * that the program imports besides its commands, and the core. The bundler puts modules into one
 * chunk if the same entries import them. A start would load some fifty chunks otherwise, and Node
 * takes time for each.
 *
 * @returns the modules to import first, by the path of the module that imports them
 */
function planJoins({ inputs, outputs }: Metafile): Map<string, string[]> {
  const loaded = collectImports(inputs, program)
  const base = [...loaded].filter((path) => /^src\/(?!cli\/)/.test(path))
  const entries = Object.values(outputs).flatMap(({ entryPoint = '' }) => entryPoint)
  const others = Object.values(options.entryPoints).filter((entry) => entry !== 'src/index.ts')
  const early = new Set([program, ...others].flatMap((entry) => [...collectImports(inputs, entry)]))
  const joined = entries.filter(
    (entry) => entry.startsWith('src/') && entry !== 'src/index.ts' && !early.has(entry),
  )
  return new Map(
    joined.map((entry) => [
      entry,
      collectImports(inputs, entry).has(heart) ? [...base, ...core] : base,
    ]),
  )
}

/** Collects a module and all that it imports when it is loaded. */
function collectImports(
  inputs: Metafile['inputs'],
  path: string,
  found = new Set<string>(),
): Set<string> {
  if (found.has(path)) return found
  found.add(path)
  for (const { path: to, kind, external = false } of inputs[path]?.imports ?? [])
    if (kind !== 'dynamic-import' && !external) collectImports(inputs, to, found)
  return found
}

/** Makes modules import others first. */
function joinModules(joins: ReadonlyMap<string, string[]>): Plugin {
  return {
    name: 'join-modules',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const first = joins.get(relative(options.absWorkingDir, path))
        if (first === undefined) return null
        const imports = first.map((each) => `import '${options.absWorkingDir}${each}'`)
        return { contents: `${imports.join('\n')}\n${readFileSync(path, 'utf8')}`, loader: 'ts' }
      }),
  }
}
