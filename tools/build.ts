/**
 * Builds `dist`: the program and the library with all dependencies, split so that a command loads
 * only the chunks it uses, the types of the library, and the licences of bundled packages.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = new URL('../', import.meta.url)
const dist = new URL('dist/', root)
rmSync(dist, { recursive: true, force: true })

const { metafile } = await build({
  absWorkingDir: fileURLToPath(root),
  entryPoints: { 'cli/main': 'src/cli/main.ts', index: 'src/index.ts' },
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Has a WebAssembly file next to its code.
  external: ['highs'],
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
  logLevel: 'warning',
})

writeFileSync(
  new URL('THIRD-PARTY-LICENSES.txt', dist),
  collectLicences(Object.keys(metafile.inputs)),
)
if (!process.argv.includes('--no-types')) emitTypes()

function emitTypes(): void {
  const tsc = fileURLToPath(new URL('node_modules/.bin/tsc', root))
  execFileSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
}

/** Collects the licence texts of all bundled packages. */
function collectLicences(inputs: string[]): string {
  const folders = new Set(
    inputs.flatMap(
      (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.slice(1, 2) ?? [],
    ),
  )
  return [...folders]
    .toSorted()
    .map((folder) => {
      const home = new URL(`${folder}/`, root)
      const { name, version, license } = JSON.parse(
        readFileSync(new URL('package.json', home), 'utf8'),
      ) as Record<string, string>
      const file = readdirSync(home).find((entry) => /^licen[cs]e/i.test(entry))
      const text =
        file !== undefined && existsSync(new URL(file, home))
          ? readFileSync(new URL(file, home), 'utf8').trim()
          : '(no licence file in the package)'
      return `${name} ${version} (${license})\n\n${text}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}
