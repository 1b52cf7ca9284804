import { formatPointerStep, parsePointer } from '../../core/model/json.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Diagnostic, Place } from '../../core/model/problem.ts'
import type { Finding } from './finding.ts'
import type { MergeFault } from './merge.ts'
import { findOrigin, type Layer, type Origin } from '../workspace-file/find-origin.ts'
import type { ConfigFinding } from './parse-config.ts'
import type { Manifest } from './parse-document.ts'
import { findPlace } from '../yaml/yaml-place.ts'

/** A manifest with a problem that may be its profile's. */
export interface Use {
  finding: ConfigFinding
  /** Domains of the manifest that have the problem. */
  domains: Domain[]
  manifest: Manifest
  /** The layers of the manifest, its own last. */
  layers: Layer[]
}

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

/**
 * Creates one diagnostic for all domains of a manifest that have the same problem.
 *
 * @param origin what the problem comes from; null for nothing in particular
 */
export function createConfigDiagnostic(
  { finding, domains, layers, manifest }: Use,
  origin: Origin | null = findOrigin(layers, finding.pointer),
): Diagnostic {
  const { part, other, ...fault } = finding
  const site = findSite(origin, manifest, part)
  const declared = other === undefined ? null : findOrigin(layers, formatPointerStep(other))
  const related =
    other === undefined
      ? site.related
      : [
          ...site.related,
          {
            ...findSite(declared, manifest, 'key').place,
            message: `"${other}" is declared here`,
          },
        ]
  const [domain] = domains
  const count = domains.length < 2 ? '' : ` (${domain} and ${domains.length - 1} more)`
  return {
    severity: 'error',
    ...fault,
    detail: finding.detail + count,
    ...(domain === undefined ? {} : { domain }),
    ...site.place,
    document: manifest.document.index,
    pointer: site.pointer,
    ...(related.length === 0 ? {} : { related }),
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
