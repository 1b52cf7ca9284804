/**
 * Builds `dist`: the program and the library with all dependencies, split so that a command loads
 * only the chunks it uses, the types of the library, and the licences and the bill of materials of
 * the packages in it.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
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
if (!process.argv.includes('--no-types')) emitTypes()

function emitTypes(): void {
  const tsc = fileURLToPath(new URL('node_modules/.bin/tsc', root))
  execFileSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
}
