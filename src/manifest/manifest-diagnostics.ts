import type { Domain } from '../model/item.ts'
import { formatPointerStep, parsePointer } from '../model/json.ts'
import type { Diagnostic, Place } from '../model/problem.ts'
import type { Finding } from './finding.ts'
import type { MergeFault } from './merge.ts'
import { findOrigin, type Layer, type Origin } from './find-origin.ts'
import type { ConfigFinding } from './parse-config.ts'
import type { Manifest } from './parse-document.ts'
import { findPlace } from './yaml-place.ts'

/** What could not be merged, at the layer that asked for it. */
export function createMergeDiagnostic(
  { pointer, detail }: MergeFault,
  layer: Layer | undefined,
  manifest: Manifest,
  domains: Domain[],
): Diagnostic {
  const [item = ''] = parsePointer(pointer)
  return at(layer === undefined ? null : { layer, pointer }, manifest, {
    code: 'item-invalid',
    pointer,
    part: 'key',
    summary: "This can't be merged",
    detail: forAll(detail, domains),
    ...about(domains),
    item,
  })
}

/**
 * What is wrong with a merged configuration, told once for all domains of its manifest that it is
 * wrong for.
 */
export function createConfigDiagnostic(
  finding: ConfigFinding,
  domains: Domain[],
  layers: Layer[],
  manifest: Manifest,
): Diagnostic {
  const { other, ...fault } = finding
  const related =
    other === undefined
      ? []
      : [
          {
            ...findSite(findOrigin(layers, formatPointerStep(other)), manifest, 'key').place,
            message: `"${other}" is declared here`,
          },
        ]
  return at(findOrigin(layers, finding.pointer), manifest, {
    ...fault,
    detail: forAll(finding.detail, domains),
    ...about(domains),
    related,
  })
}

function about(domains: Domain[]): { domain?: Domain } {
  return domains[0] === undefined ? {} : { domain: domains[0] }
}

function forAll(detail: string, domains: Domain[]): string {
  return domains.length < 2 ? detail : `${detail} (${domains[0]} and ${domains.length - 1} more)`
}

function at(origin: Origin | null, manifest: Manifest, finding: Finding): Diagnostic {
  const { part, related = [], ...fault } = finding
  const site = findSite(origin, manifest, part)
  const all = [...site.related, ...related]
  return {
    severity: 'error',
    ...fault,
    ...site.place,
    document: manifest.document.index,
    pointer: site.pointer,
    ...(all.length === 0 ? {} : { related: all }),
  }
}

/** Where the manifest is to blame: at the value itself, or at what brought it in. */
export function findSite(
  origin: Origin | null,
  manifest: Manifest,
  part?: 'key',
): { place: Place; pointer: string; related: NonNullable<Finding['related']> } {
  const layer = origin?.layer
  const said = layer === undefined ? '' : layer.base + (origin?.pointer ?? '')
  if (layer === undefined || layer.document === manifest.document)
    return { place: findPlace(manifest.document, said, part), pointer: said, related: [] }
  const list = manifest.domains[0]?.pointer.startsWith('/domains') === true
  const pointer =
    layer.profile !== undefined ? `/profiles/${layer.profile.entry}` : list ? '/domains' : '/domain'
  const message =
    layer.profile === undefined
      ? 'set here by the defaults of the workspace'
      : `set here by profile "${layer.profile.name}"`
  const place = findPlace(
    manifest.document,
    pointer,
    layer.profile === undefined ? 'key' : undefined,
  )
  return { place, pointer, related: [{ ...findPlace(layer.document, said, part), message }] }
}
