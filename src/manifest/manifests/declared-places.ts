import type { Domain, ItemKey } from '../../core/model/item.ts'
import { formatPointerStep } from '../../core/model/json.ts'
import { findOrigin, type Layer } from '../workspace-file/find-origin.ts'
import { findSite } from './manifest-diagnostics.ts'
import { parseDocument, type Declaration, type Manifest } from './parse-document.ts'
import type { Stack } from './profiles.ts'
import type { Workspace } from '../workspace-file/workspace.ts'
import { findPlace } from '../yaml/yaml-place.ts'
import { parseYaml, type DocumentPlace, type SourceFile } from '../yaml/yaml-file.ts'

/** Where a domain is declared. The values of all manifests would take much memory. */
export interface Declared extends DocumentPlace {
  /** Pointer of the domain's name in the document. */
  pointer: string
  stack: Stack
  owners: string[]
}

/** Creates the layer of a manifest's or profile's own configuration. */
export function toLayer({ config, document }: Declaration): Layer {
  return { config, document, base: '/config' }
}

/** Lookups of places in files, of domains, items and texts. */
export type PlaceLookups = Pick<
  Workspace,
  | 'findDomainPlace'
  | 'findDeclaredOwners'
  | 'findItemPlace'
  | 'findProfiles'
  | 'findTextPlace'
  | 'findTextSource'
>

/**
 * Creates lookups of places of items, which parse the file of a domain again. They keep the
 * documents of one file only.
 */
export function createPlaceLookups(declared: ReadonlyMap<Domain, Declared>): PlaceLookups {
  let recent: { file: SourceFile; manifests: Map<number, Manifest> } | null = null
  const find = (domain: Domain, item: ItemKey, pointer: string) => {
    const found = declared.get(domain)
    if (found === undefined) return null
    const { file, index, stack } = found
    if (recent?.file !== file) recent = { file, manifests: parseManifests(file) }
    const manifest = recent.manifests.get(index)
    if (manifest === undefined) return null
    const layers = [...stack.layers, toLayer(manifest)]
    const origin = findOrigin(layers, formatPointerStep(item) + pointer)
    return origin === null || origin.pointer === '' ? null : { origin, manifest }
  }
  const findTextSource: Workspace['findTextSource'] = (domain, item, pointer) => {
    const found = find(domain, item, pointer)
    if (found === null) return null
    const { layer, pointer: within } = found.origin
    const own = found.manifest.document
    const manifest = layer.document === own ? null : own.file.path
    return { document: layer.document, pointer: layer.base + within, manifest }
  }
  return {
    findDomainPlace: (domain) => {
      const found = declared.get(domain)
      return found === undefined
        ? null
        : { ...findPlace(found, found.pointer), document: found.index }
    },
    findDeclaredOwners: (domain) => declared.get(domain)?.owners ?? [],
    findItemPlace: (domain, item, pointer = '') => {
      const found = find(domain, item, pointer)
      if (found === null) return null
      const { origin, manifest } = found
      return { ...findSite(origin, manifest).place, document: manifest.document.index }
    },
    findTextSource,
    findProfiles: (domain) =>
      declared.get(domain)?.stack.layers.flatMap(({ profile }) => profile?.name ?? []) ?? [],
    findTextPlace: (domain, item, pointer) => {
      const found = findTextSource(domain, item, pointer)
      if (found === null) return null
      const { document, pointer: within, manifest } = found
      const place = findPlace(document, within)
      return { ...place, document: document.index, pointer: within, manifest }
    },
  }
}

function parseManifests(file: SourceFile): Map<number, Manifest> {
  return new Map(
    parseYaml(file).documents.flatMap((document) => {
      const { declaration } = parseDocument(document)
      return declaration?.kind === 'manifest' ? [[document.index, declaration] as const] : []
    }),
  )
}
