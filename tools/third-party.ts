import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Metafile } from 'esbuild'
import { buildBillOfMaterials } from './bill-of-materials.ts'
import { root } from './bundle.ts'
import { listBundledPackages, type BundledPackage, type LoadPackage } from './bundled-packages.ts'

/** Licences of packages that may be shipped, by their SPDX identifiers. */
const allowed = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'])

/** The packages of a bundle, and the shipped files about them, by their paths in `dist`. */
export interface ThirdParty {
  packages: BundledPackage[]
  files: Record<string, string>
}

/** Lists the packages of a bundle, and builds the shipped files about them. */
export function describeThirdParty(metafile: Metafile): ThirdParty {
  const { packages, ownImports } = listBundledPackages(metafile, createLoader())
  const { name = '', version = '', license = '' } = loadJson('package.json')
  const program = { name, version, licence: license, imports: ownImports }
  return {
    packages,
    files: {
      'THIRD-PARTY-LICENSES.txt': formatNotice(packages),
      'bom.cdx.json': buildBillOfMaterials(program, packages),
    },
  }
}

/** Lists the packages that may not be shipped, each with the reason. */
export function findLicenceProblems(packages: BundledPackage[]): string[] {
  return packages.flatMap(({ name, version, licence, licenceText, isBundled }) => [
    ...(allowed.has(licence)
      ? []
      : [`${name} ${version}: its licence "${licence}" is none of ${[...allowed].join(', ')}`]),
    // A package that is installed beside the bundle has its own licence file.
    ...(licenceText === null && isBundled ? [`${name} ${version}: it has no licence file`] : []),
  ])
}

/** Formats the licence texts of the packages whose code is in the bundle. */
function formatNotice(packages: BundledPackage[]): string {
  return packages
    .filter(({ isBundled }) => isBundled)
    .map(({ name, version, licence, licenceText }) => {
      return `${name} ${version} (${licence})\n\n${licenceText ?? ''}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function createLoader(): LoadPackage {
  const { packages } = JSON.parse(load('package-lock.json')) as {
    packages: Record<string, { integrity?: string }>
  }
  return (folder) => {
    if (!existsSync(new URL(`${folder}/package.json`, root))) return null
    const { name = '', version = '', license = '' } = loadJson(`${folder}/package.json`)
    const file = readdirSync(new URL(`${folder}/`, root)).find((entry) =>
      /^licen[cs]e/i.test(entry),
    )
    return {
      name,
      version,
      licence: license,
      licenceText: file === undefined ? findLicenceIn(folder) : load(`${folder}/${file}`).trim(),
      integrity: packages[folder]?.integrity ?? null,
    }
  }
}

function findLicenceIn(folder: string): string | null {
  const path = `${folder}/README.md`
  return existsSync(new URL(path, root)) ? findLicenceSection(load(path)) : null
}

/** Finds the licence text at the end of a README; null if it has none. */
export function findLicenceSection(readme: string): string | null {
  const [, text = ''] = /^licen[cs]e\s*\n(.*)$/is.exec(readme.split(/^#+ /m).at(-1) ?? '') ?? []
  return /copyright/i.test(text) ? text.trim() : null
}

function loadJson(path: string): Partial<Record<string, string>> {
  return JSON.parse(load(path)) as Partial<Record<string, string>>
}

function load(path: string): string {
  return readFileSync(new URL(path, root), 'utf8').replaceAll('\r\n', '\n')
}
