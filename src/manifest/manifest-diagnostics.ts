import type { Domain } from '../model/item.ts'
import { formatPointerStep, parsePointer } from '../model/json.ts'
import type { Diagnostic, Place } from '../model/problem.ts'
import type { Finding } from './finding.ts'
import type { MergeFault } from './merge.ts'
import { findOrigin, type Layer, type Origin } from './find-origin.ts'
import type { ConfigFinding } from './parse-config.ts'
import type { Manifest } from './parse-document.ts'
import { findPlace } from './yaml-place.ts'

/** Creates the finding of a failed merge; its pointer is within the layer with the instruction. */
export function createMergeFinding({ pointer, detail }: MergeFault): ConfigFinding {
  const [item = ''] = parsePointer(pointer)
  return {
    code: 'item-invalid',
    pointer,
    part: 'key',
    summary: "This can't be merged",
    detail,
    item,
  }
}

/** Creates the diagnostic of a failed merge, at the layer that contains the instruction. */
export function createMergeDiagnostic(
  finding: ConfigFinding,
  layer: Layer | undefined,
  manifest: Manifest,
  domains: Domain[],
): Diagnostic {
  const origin = layer === undefined ? null : { layer, pointer: finding.pointer }
  return createDiagnostic(origin, manifest, {
    ...finding,
    detail: addDomainCount(finding.detail, domains),
    ...pickDomain(domains),
  })
}

/** Creates one diagnostic for all domains of a manifest that have the same problem. */
export function createConfigDiagnostic({
  finding,
  domains,
  layers,
  manifest,
}: {
  finding: ConfigFinding
  domains: Domain[]
  layers: Layer[]
  manifest: Manifest
}): Diagnostic {
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
  return createDiagnostic(findOrigin(layers, finding.pointer), manifest, {
    ...fault,
    detail: addDomainCount(finding.detail, domains),
    ...pickDomain(domains),
    related,
  })
}

function pickDomain(domains: Domain[]): { domain?: Domain } {
  return domains[0] === undefined ? {} : { domain: domains[0] }
}

function addDomainCount(detail: string, domains: Domain[]): string {
  return domains.length < 2 ? detail : `${detail} (${domains[0]} and ${domains.length - 1} more)`
}

function createDiagnostic(origin: Origin | null, manifest: Manifest, finding: Finding): Diagnostic {
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

/**
 * Finds the place in the manifest to report: the value itself, or the profile entry or domain that
 * brings it in.
 */
export function findSite(
  origin: Origin | null,
  manifest: Manifest,
  part?: 'key',
): { place: Place; pointer: string; related: NonNullable<Finding['related']> } {
  const layer = origin?.layer
  const sourcePointer = layer === undefined ? '' : layer.base + (origin?.pointer ?? '')
  if (layer === undefined || layer.document === manifest.document)
    return {
      place: findPlace(manifest.document, sourcePointer, part),
      pointer: sourcePointer,
      related: [],
    }
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
  return {
    place,
    pointer,
    related: [{ ...findPlace(layer.document, sourcePointer, part), message }],
  }
}
