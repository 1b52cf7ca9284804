import type { Domain } from '../model/item.ts'
import { formatPointerStep } from '../model/json.ts'
import { findOrigin, type Layer } from './find-origin.ts'
import { findSite } from './manifest-diagnostics.ts'
import { parseDocument, type Declaration, type Manifest } from './parse-document.ts'
import type { Stack } from './profiles.ts'
import type { Workspace } from './workspace.ts'
import { parseYaml, type DocumentPlace, type SourceFile } from './yaml-file.ts'

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

/** Creates a lookup of places of items, which parses the manifest of a domain again. */
export function createPlaceLookup(
  declared: ReadonlyMap<Domain, Declared>,
): Workspace['findItemPlace'] {
  let recent: { file: SourceFile; index: number; manifest: Manifest | null } | null = null
  return (domain, item, pointer = '') => {
    const found = declared.get(domain)
    if (found === undefined) return null
    const { file, index, stack } = found
    if (recent?.file !== file || recent.index !== index)
      recent = { file, index, manifest: parseManifest(file, index) }
    const { manifest } = recent
    if (manifest === null) return null
    const layers = [...stack.layers, toLayer(manifest)]
    const origin = findOrigin(layers, formatPointerStep(item) + pointer)
    if (origin === null || origin.pointer === '') return null
    return { ...findSite(origin, manifest).place, document: index }
  }
}

function parseManifest(file: SourceFile, index: number): Manifest | null {
  const document = parseYaml(file).documents.find((each) => each.index === index)
  const declaration = document === undefined ? null : parseDocument(document).declaration
  return declaration?.kind === 'manifest' ? declaration : null
}
