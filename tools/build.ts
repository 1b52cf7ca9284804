/**
 * Builds `dist`: the program and the library with all dependencies, split so that a command loads
 * only the chunks it uses, the types of the library, and the licences and the bill of materials of
 * the packages in it.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundle, metafileUrl, root } from './bundle.ts'
import { describeThirdParty } from './third-party.ts'

const dist = new URL('dist/', root)
rmSync(dist, { recursive: true, force: true })
const metafile = await bundle({ write: true })
const { files } = describeThirdParty(metafile)
for (const [path, text] of Object.entries(files)) writeFileSync(new URL(path, dist), text)
mkdirSync(new URL('.', metafileUrl), { recursive: true })
writeFileSync(metafileUrl, JSON.stringify(metafile))
if (!process.argv.includes('--no-types')) {
  emitTypes()
  removeInternalTypes()
}

function emitTypes(): void {
  const tsc = fileURLToPath(new URL('node_modules/.bin/tsc', root))
  execFileSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
}

/** Removes declarations of modules that the types of the library do not name. */
function removeInternalTypes(): void {
  const named = new Set<string>()
  const visit = (url: URL) => {
    if (named.has(url.href)) return
    named.add(url.href)
    for (const [, path] of readFileSync(url, 'utf8').matchAll(/['"](\.[^'"\n]+)\.ts['"]/g))
      visit(new URL(`${path}.d.ts`, url))
  }
  visit(new URL('index.d.ts', dist))
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const url = new URL(path, dist)
    if (path.endsWith('.d.ts') && !named.has(url.href)) rmSync(url)
  }
}
