import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild'
import { loadBuiltins } from './bundle-builtins.ts'
import { convertToCommonJs, type Bundled } from './bundle-commonjs.ts'
import {
  bundleRarelyCalled,
  compressSolver,
  joinMetafiles,
  packagePlugins,
  packedSolver,
} from './bundle-packages.ts'
import { describePageAssets } from './page-assets.ts'

/** Folder of the repository. */
export const root = new URL('../', import.meta.url)

/** What the last build put into which file, for tests. */
export const metafileUrl = new URL('node_modules/.cache/edgewise/metafile.json', root)

/** The file that is started, below `dist`. */
export const programPath = 'cli/main.js'

/** The first one that resolves a path wins. */
const plugins = [...packagePlugins, loadBuiltins]

const options = {
  absWorkingDir: fileURLToPath(root),
  entryPoints: {
    'cli/main': 'src/cli/main.ts',
    index: 'src/index.ts',
    'runtime/worker': 'src/operations/runtime/worker.ts',
    'leader/pulse-thread': 'src/server/leader/pulse-thread.ts',
  },
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // As calls: Node builds the sets of a literal when it parses it, whether or not the code runs.
  supported: { 'regexp-unicode-property-escapes': false },
  // Names of files stay, for stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 200,
  // A bundled package would print the environment of git, tokens included, where DEBUG is set.
  // Another one would load a native package from beside the program.
  define: { 'process.env.DEBUG': 'undefined', 'process.env.NODE_PG_FORCE_NATIVE': 'undefined' },
  // Only tools of development bring it; `debug` finds no level of colours in what stands here.
  alias: { 'supports-color': 'node:tty' },
  // Installed beside the program by who needs it.
  external: [
    '@opentelemetry/exporter-*',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace-base',
  ],
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

/** Bundles the program and the library into `dist`, or only computes what would be in the files. */
export async function bundle({ write }: { write: boolean }): Promise<Metafile> {
  const split = await bundleProgram([])
  const joined = await bundleProgram([joinModules(planJoins(split.metafile))])
  const { metafile, texts } = convertToCommonJs(joined, options.absWorkingDir)
  if (write) {
    // Beside files of the package that are modules.
    texts.set('dist/cli/package.json', '{"type":"commonjs"}\n')
    for (const [path, text] of texts) {
      const url = new URL(path, root)
      mkdirSync(dirname(fileURLToPath(url)), { recursive: true })
      writeFileSync(url, text)
    }
    writeFileSync(new URL(`dist/chunks/${packedSolver}`, root), compressSolver())
    // The image and the release start the file itself, without a package manager.
    chmodSync(new URL(`dist/${programPath}`, root), 0o755)
  }
  const others = [
    await bundleRarelyCalled({ ...options, write }),
    await bundleAction({ ...options, write }),
    ...(await describePageAssets()),
  ]
  return joinMetafiles(metafile, others)
}

async function bundleProgram(more: Plugin[]): Promise<Bundled> {
  return build({ ...options, plugins: [...plugins, ...more], write: false })
}

/** Bundles the GitHub action, which starts the program, into a file of its own. */
async function bundleAction(common: BuildOptions): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: { 'action/main': 'src/cli/action/main.ts' },
    splitting: false,
    // Bundled CommonJS packages call `require` for Node's own modules.
    banner: { js: 'const require = process.getBuiltinModule;' },
    metafile: true,
  })
  return metafile
}

/** Entry that Node starts; it imports the program on demand. */
const main = 'src/cli/main.ts'
/** The program; it imports commands on demand. */
const program = 'src/cli/run-process.ts'
/** Programs of threads, which need little. */
const threads = ['src/operations/runtime/worker.ts', 'src/server/leader/pulse-thread.ts']
/** Imported on demand, also before any command. */
const printError = 'src/cli/terminal/print-error.ts'
/** Modules that nearly every command loads, with all that they import. */
const core = [
  'src/operations/runtime/load-workspace.ts',
  'src/operations/runtime/refuse-invalid.ts',
  'src/operations/rule-findings.ts',
  'src/cli/completion/complete-words.ts',
]

/**
 * Plans which modules import others first, so that few chunks hold what most commands load. The
 * bundler puts modules into one chunk if the same entries import them: those that the program
 * imports besides its commands are imported by all entries, and the core by all that need a part
 * of it. A start would load some fifty chunks otherwise, and Node takes time for each.
 *
 * @returns the modules to import first, by the path of the module that imports them
 */
function planJoins({ inputs, outputs }: Metafile): Map<string, string[]> {
  const [start, early, last] = [main, program, printError].map((entry) => [
    ...collectImports(inputs, entry),
  ]) as [string[], string[], string[]]
  const isShared = (path: string) =>
    /^src\/(?!cli\/)/.test(path) ||
    (path.startsWith('src/') && early.includes(path) && last.includes(path))
  const base = [
    ...start.filter((path) => path.startsWith('src/') && path !== main),
    ...[...early, ...last].filter(isShared),
  ]
  const inBase = new Set(base.flatMap((path) => [...collectImports(inputs, path)]))
  const inCore = new Set(core.flatMap((path) => [...collectImports(inputs, path)]))
  const entries = Object.values(outputs).flatMap(({ entryPoint = '' }) => entryPoint)
  return new Map(
    entries
      .filter((entry) => entry.startsWith('src/') && entry !== main)
      .map((entry) => {
        const needsCore = [...collectImports(inputs, entry)].some(
          (path) => inCore.has(path) && !inBase.has(path),
        )
        return [entry, needsCore && !threads.includes(entry) ? [...base, ...core] : base]
      }),
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
