import { crc32, deflateRawSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { root } from './bundle.ts'
import { describeThirdParty, findLicenceProblems } from './third-party.ts'

const folder = 'editors/vscode'
/** Maximum size of the packed extension, bytes. */
const maxBytes = 400_000
/** Modules that the bundle may load when it runs: none of them reaches the network by HTTP. */
const allowed =
  /^(?:node:)?(?:vscode|assert|child_process|crypto|fs|net|os|path|process|readline|url|util)$/

/** Files by their paths in an archive. */
type Files = Map<string, string>

/** Builds the extension for Visual Studio Code: its files, and what is wrong with them. */
export async function buildExtension(): Promise<{ files: Files; problems: string[] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: [`${folder}/extension.mts`],
    outfile: 'dist/extension.js',
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external: ['vscode'],
    // Its licence is none of those that may be shipped.
    alias: { minimatch: `./${folder}/minimatch.mts` },
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 200,
    legalComments: 'none',
    metafile: true,
    write: false,
  })
  const { packages, files: notices } = describeThirdParty(metafile)
  const manifest = load(`${folder}/package.json`)
  const files: Files = new Map([
    ['[Content_Types].xml', contentTypes],
    ['extension.vsixmanifest', buildManifest(JSON.parse(manifest) as Manifest)],
    ['extension/package.json', manifest],
    ['extension/README.md', load(`${folder}/README.md`)],
    ['extension/LICENSE.txt', load('LICENSE')],
    ['extension/THIRD-PARTY-LICENSES.txt', notices['THIRD-PARTY-LICENSES.txt'] ?? ''],
    ['extension/extension.js', outputFiles[0]?.text ?? ''],
  ])
  const loaded = Object.values(metafile.outputs).flatMap(({ imports }) => imports)
  const { version } = JSON.parse(load('package.json')) as Manifest
  const problems = [
    ...findLicenceProblems(packages.filter(({ isBundled }) => isBundled)),
    ...loaded.filter(({ path }) => !allowed.test(path)).map(({ path }) => `it loads ${path}`),
    ...((JSON.parse(manifest) as Manifest).version === version
      ? []
      : [`its version is not that of the program, ${version}`]),
  ]
  return { files, problems }
}

/** Packs the files of an extension, and finds what is wrong with the archive. */
export function packExtension(files: Files): { bytes: Buffer; problems: string[] } {
  const bytes = zip(files)
  const problems =
    bytes.length > maxBytes ? [`it has ${bytes.length} bytes, more than ${maxBytes}`] : []
  return { bytes, problems }
}

interface Manifest {
  name: string
  displayName: string
  description: string
  version: string
  publisher: string
  engines: { vscode: string }
  categories: string[]
}

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${[
  ['json', 'application/json'],
  ['js', 'application/javascript'],
  ['md', 'text/markdown'],
  ['txt', 'text/plain'],
  ['vsixmanifest', 'text/xml'],
]
  .map(([ending, type]) => `<Default Extension=".${ending}" ContentType="${type}"/>`)
  .join('')}</Types>
`

function buildManifest(manifest: Manifest): string {
  const { name, displayName, description, version, publisher, engines, categories } = manifest
  const assets = [
    ['Code.Manifest', 'package.json'],
    ['Services.Content.Details', 'README.md'],
    ['Services.Content.License', 'LICENSE.txt'],
  ].map(([type, path]) => {
    const facts = `Type="Microsoft.VisualStudio.${type}" Path="extension/${path}"`
    return `    <Asset ${facts} Addressable="true"/>`
  })
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${displayName}</DisplayName>
    <Description xml:space="preserve">${description}</Description>
    <Categories>${categories.join(',')}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
${assets.join('\n')}
  </Assets>
</PackageManifest>
`
}

/** Packs files into a ZIP archive, always with the same bytes: the time of each is that of 1980. */
function zip(files: Files): Buffer {
  const [parts, entries]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const [path, text] of files) {
    const [name, content] = [Buffer.from(path), Buffer.from(text)]
    const packed = deflateRawSync(content, { level: 9 })
    // Version 2.0, names in UTF-8, deflated, 1 January 1980.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x08_00, 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt16LE(0x00_21, 8)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    const local = [Buffer.from('PK\u0003\u0004'), common, name, packed]
    entries.push(Buffer.from('PK\u0001\u0002\u0014\0', 'latin1'), common, rest, name)
    parts.push(...local)
    offset += local.reduce((sum, each) => sum + each.length, 0)
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(files.size, 8)
  end.writeUInt16LE(files.size, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, directory, end])
}

function load(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}
