import { builtinModules } from 'node:module'
import type { Metafile } from 'esbuild'

/** A package whose code is in the bundle, or that the bundle imports when it runs. */
export interface BundledPackage {
  name: string
  version: string
  /** Licence as the package declares it: an identifier or an expression of SPDX. */
  licence: string
  /** Text of its licence file; null if it has none. */
  licenceText: string | null
  /** SHA-512 of its archive in the registry, in base64; null if it is unknown. */
  integrity: string | null
  /** Whether its code is in the bundle; else it is installed beside it. */
  isBundled: boolean
  /** Names with versions of the packages that its code imports. */
  imports: string[]
}

/**
 * Loads the facts about the package in a folder, e.g. `node_modules/qs`; null if it is not
 * installed, as an optional import of a package.
 */
export type LoadPackage = (
  folder: string,
) => Pick<BundledPackage, 'name' | 'version' | 'licence' | 'licenceText' | 'integrity'> | null

/** The folder of the own code, which imports packages. */
const own = ''

/**
 * Lists the packages of a bundle by what is in its files, not by what `package.json` declares,
 * sorted by name and version. The own code is not one of them; `ownImports` has its imports.
 */
export function listBundledPackages(
  { inputs, outputs }: Metafile,
  load: LoadPackage,
): { packages: BundledPackage[]; ownImports: string[] } {
  const used = Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => path),
  )
  const edges = new Map<string, Set<string>>([[own, new Set()]])
  const bundled = new Set(used.map(findFolder))
  for (const path of used) {
    const from = findFolder(path)
    const targets = edges.get(from) ?? new Set<string>()
    edges.set(from, targets)
    for (const { path: to, external } of inputs[path]?.imports ?? []) {
      if (external === true && isNodeModule(to)) continue
      const folder = external === true ? `node_modules/${parsePackageName(to)}` : findFolder(to)
      if (folder !== from && (external === true || bundled.has(folder))) targets.add(folder)
      if (external === true) edges.set(folder, edges.get(folder) ?? new Set())
    }
  }
  const facts = new Map(
    [...edges.keys()].flatMap((folder) => {
      const fact = folder === own ? null : load(folder)
      return fact === null ? [] : [[folder, fact] as const]
    }),
  )
  const listImports = (folder: string) =>
    [...(edges.get(folder) ?? [])].flatMap((to) => {
      const found = facts.get(to)
      return found === undefined ? [] : [identify(found)]
    })
  const packages = new Map<string, BundledPackage>()
  for (const [folder, fact] of facts) {
    // npm may install the same version in several folders.
    const same = packages.get(identify(fact))?.imports ?? []
    const imports = [...new Set([...same, ...listImports(folder)])].toSorted()
    packages.set(identify(fact), { ...fact, isBundled: bundled.has(folder), imports })
  }
  return {
    packages: [...packages.values()].toSorted(compare),
    ownImports: listImports(own).toSorted(),
  }
}

function compare(a: BundledPackage, b: BundledPackage): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return a.version < b.version ? -1 : 1
}

/** Formats name and version, e.g. `qs@6.17.1`. */
export function identify({ name, version }: { name: string; version: string }): string {
  return `${name}@${version}`
}

/** Finds the folder of the package of a file; empty for own code. */
function findFolder(path: string): string {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? own
}

function parsePackageName(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
}

function isNodeModule(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}
