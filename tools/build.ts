/**
 * Builds `dist`: the program and the library with all dependencies, split so that a command loads
 * only the chunks it uses, the types of the library, and the licences and the bill of materials of
 * the packages in it.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type IConfigFile,
} from '@microsoft/api-extractor'
import { bundle, metafileUrl, root } from './bundle.ts'
import { describeThirdParty } from './third-party.ts'

const dist = new URL('dist/', root)
rmSync(dist, { recursive: true, force: true })
const metafile = await bundle({ write: true })
const { files } = describeThirdParty(metafile)
for (const [path, text] of Object.entries(files)) writeFileSync(new URL(path, dist), text)
mkdirSync(new URL('.', metafileUrl), { recursive: true })
writeFileSync(metafileUrl, JSON.stringify(metafile))
if (!process.argv.includes('--no-types')) writeTypes()

/** Writes the types that the library names as one file. */
function writeTypes(): void {
  const folder = fileURLToPath(root)
  const tsc = join(folder, 'node_modules/.bin/tsc')
  execFileSync(tsc, ['-p', 'tsconfig.build.json'], { cwd: folder, stdio: 'inherit' })
  const configObject = {
    projectFolder: folder,
    mainEntryPointFilePath: join(folder, 'dist/types/index.d.ts'),
    compiler: { tsconfigFilePath: 'tsconfig.build.json' },
    dtsRollup: { enabled: true, untrimmedFilePath: join(folder, 'dist/index.d.ts') },
    messages: { extractorMessageReporting: { default: { logLevel: 'none' } } },
  }
  const config = ExtractorConfig.prepare({
    configObject: configObject as IConfigFile,
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
  })
  const { succeeded } = Extractor.invoke(config, {
    messageCallback: (message) => {
      message.handled = message.logLevel === ExtractorLogLevel.Info
    },
  })
  if (!succeeded) throw new Error('the types could not be joined')
  rmSync(new URL('types/', dist), { recursive: true })
}
