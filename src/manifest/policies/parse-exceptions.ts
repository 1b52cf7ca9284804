import { createPolicyValidator } from '../../core/catalog/generated/schema-validators.ts'
import { catalogue } from '../../core/catalog/catalogue.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import type { Domain } from '../../core/model/item.ts'
import { isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import { findGlobFault } from '../../core/model/text/domain-glob.ts'
import type { PolicyException } from '../../core/policy/exception.ts'
import type { Finding } from '../manifests/finding.ts'
import { policySchema } from '../workspace-file/generated/file-schemas.ts'
import { checkShape, type Shape } from '../workspace-file/workspace-shape.ts'
import type { DocumentPlace } from '../yaml/yaml-file.ts'

/** An exception, and where it is declared. */
export interface DeclaredException extends PolicyException {
  document: DocumentPlace
  pointer: string
}

/** The shape of a document of policies, by which exceptions of a manifest are checked too. */
export const policyShape: Shape = {
  kind: 'policy',
  schema: policySchema,
  createValidator: createPolicyValidator,
  createFinding: (pointer, detail, part) => ({
    code: 'policy-invalid',
    pointer,
    part,
    summary: 'This policy is not well-formed',
    detail,
  }),
}

/**
 * Parses the exceptions of a document.
 *
 * @param except the value under `except`; undefined for none
 * @param own the domains of its manifest; null for a document of policies
 */
export function parseExceptions(
  except: Json | undefined,
  own: Domain[] | null,
  document: DocumentPlace,
): { exceptions: DeclaredException[]; findings: Finding[] } {
  if (except === undefined) return { exceptions: [], findings: [] }
  const findings = checkShape({ except }, { except }, policyShape)
  if (findings.length > 0 || !Array.isArray(except)) return { exceptions: [], findings }
  const exceptions = except.filter(isObject).map((entry: JsonObject, i): DeclaredException => ({
    policy: String(entry['policy']),
    domains: (entry['domains'] as string[] | undefined) ?? null,
    own,
    items: (entry['items'] as string[] | undefined) ?? null,
    reason: String(entry['reason']),
    until: String(entry['until']),
    by: (entry['by'] as string | undefined) ?? null,
    document,
    pointer: `/except/${i}`,
  }))
  return { exceptions, findings: exceptions.flatMap(checkException) }
}

/** Checks what the schema can't express: globs, items, the calendar. */
function checkException({ domains, items, until, pointer }: DeclaredException): Finding[] {
  const create = (step: string, detail: string) =>
    policyShape.createFinding(`${pointer}${step}`, detail)
  const globs = (domains ?? []).flatMap((glob, i) => {
    const fault = findGlobFault(glob)
    return fault === null ? [] : [create(`/domains/${i}`, `${fault}, got "${glob}"`)]
  })
  const unknown = (items ?? []).flatMap((item, i) =>
    catalogue.has(item)
      ? []
      : [create(`/items/${i}`, `there is no item "${item}".${didYouMean(item, catalogue.keys())}`)],
  )
  const time = Date.parse(until)
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(until)
  const day = isDay ? [] : [create('/until', `expected a day of the calendar, got "${until}"`)]
  return [...globs, ...unknown, ...day]
}
