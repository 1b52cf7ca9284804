import type { Domain } from '../../core/model/item.ts'
import { formatPointerStep } from '../../core/model/json.ts'
import { findOrigin, type Layer } from '../workspace-file/find-origin.ts'
import { findSite } from './manifest-diagnostics.ts'
import { parseDocument, type Declaration, type Manifest } from './parse-document.ts'
import type { Stack } from './profiles.ts'
import type { Workspace } from '../workspace-file/workspace.ts'
import { parseYaml, type DocumentPlace, type SourceFile } from '../yaml/yaml-file.ts'

/** Where a domain is declared. The values of all manifests would take much memory. */
export interface Declared extends DocumentPlace {
  /** Pointer of the domain's name in the document. */
  pointer: string
  stack: Stack
}

/** Creates the layer of a manifest's or profile's own configuration. */
export function toLayer({ config, document }: Declaration): Layer {
  return { config, document, base: '/config' }
}

/**
 * Creates a lookup of places of items, which parses the file of a domain again. It keeps the
 * documents of one file only.
 */
export function createPlaceLookup(
  declared: ReadonlyMap<Domain, Declared>,
): Workspace['findItemPlace'] {
  let recent: { file: SourceFile; manifests: Map<number, Manifest> } | null = null
  return (domain, item, pointer = '') => {
    const found = declared.get(domain)
    if (found === undefined) return null
    const { file, index, stack } = found
    if (recent?.file !== file) recent = { file, manifests: parseManifests(file) }
    const manifest = recent.manifests.get(index)
    if (manifest === undefined) return null
    const layers = [...stack.layers, toLayer(manifest)]
    const origin = findOrigin(layers, formatPointerStep(item) + pointer)
    if (origin === null || origin.pointer === '') return null
    return { ...findSite(origin, manifest).place, document: index }
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
