import { markForeign } from '../../core/model/text/text-makers.ts'
import type { Comparable, Desired, Secrets } from '../runtime/parts.ts'
import { catalogue, getItemSpec } from '../../core/catalog/catalogue.ts'
import { numberRules } from '../../core/catalog/items/head-control.ts'
import { dropFields, listOmittedHidden, listUnknown } from '../../core/catalog/hidden-fields.ts'
import { restoreShape } from '../../core/catalog/item-spec.ts'
import { isImperative } from '../../core/catalog/problems.ts'
import { parseItem } from '../../core/catalog/parse-item.ts'
import { findItemByWireName, isUnnamed } from '../../core/catalog/wire-names.ts'
import { isAcceleratedDomain, suggestName } from '../../core/catalog/value/formats.ts'
import { describeProblem } from '../../manifest/observed/unreadable-value.ts'
import { isObject, isSameJson, formatPointerStep, type Json } from '../../core/model/json.ts'
import type { Unreadable } from '../../core/model/drift.ts'
import { findTextFault } from '../../core/model/input-limits.ts'
import { isUnset, type Domain, type ItemKey, type ItemState } from '../../core/model/item.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { pluralize } from '../../core/model/text/words.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { extractConfigs, type ExtractedConfig } from '../../manifest/observed/extract-configs.ts'
import { ImportFile, type ImportSource } from './import-file.ts'

/**
 * Payload of an item in an import file, as it is written; null if the item is not set or can't be
 * managed.
 */
export interface ParsedPayload {
  domain: Domain
  item: ItemKey
  payload: Json
  /** Hidden fields that the payload leaves out; as in `ItemState`. */
  unknownFields: string[]
  /** Fields that the service did not show, of which the payload has recorded values or none. */
  notShown: string[]
}

/** Content of import files. */
export interface ParsedImports {
  payloads: ParsedPayload[]
  /** Names of files without any item beside others. */
  empty: string[]
  /** Items that were skipped since they can't be imported. */
  invalid: ImportFile['skipped']
  diagnostics: Diagnostic[]
}

/** An item with the place of its payload. */
interface Found extends ParsedPayload {
  file: ImportFile
  pointer: string
}

/**
 * Parses import files, and reports all problems of all files. An item that several files have with
 * the same value is returned once; another value is a problem, and so are files without any item.
 *
 * @param domain domain of an answer that names none
 * @param recorded has the values of fields that a query never shows
 */
export function parseImports(
  sources: ImportSource[],
  domain: string | undefined,
  workspace: Comparable,
  recorded: RecordedState,
): ParsedImports {
  const files = sources.map((source) => new ImportFile(source))
  const foundByFile = files.map((file) => parseFile(file, domain, workspace, recorded))
  const found = foundByFile.flat()
  if (found.length === 0)
    for (const file of files)
      if (!file.hasProblems && (file.skipsInvalid || file.skipped.length === 0))
        file.reportShape('', 'expected at least one item, got none')
  const empty = sources.flatMap(({ name }, i) => (foundByFile[i]?.length === 0 ? [name] : []))
  const first = new Map<string, Found>()
  for (const each of found) {
    const key = `${each.domain} ${each.item}`
    const other = first.get(key)
    if (other === undefined) first.set(key, each)
    else if (!isSameValue(other, each)) reportContradiction(other, each)
  }
  const diagnostics = files.flatMap((file) => file.diagnose())
  const invalid = files.flatMap(({ skipped }) => skipped)
  return { payloads: [...first.values()], empty, invalid, diagnostics }
}

function isSameValue(a: Found, b: Found): boolean {
  if (!catalogue.has(a.item)) return true
  const { canonicalize } = getItemSpec(a.item)
  return isSameJson(canonicalize(a.payload), canonicalize(b.payload))
}

function reportContradiction(first: Found, { domain, item, file, pointer }: Found): void {
  first.file.want(first.pointer)
  file.report(pointer, {
    code: 'domain-duplicate',
    part: 'key',
    summary: 'Values contradict each other',
    detail: () =>
      `${item} of ${domain} has another value at ${first.file.formatPlace(first.pointer)}`,
    domain,
    item,
  })
}

function parseFile(
  file: ImportFile,
  domain: string | undefined,
  workspace: Comparable,
  recorded: RecordedState,
): Found[] {
  const { data } = file
  if (data === undefined) return []
  const { itemKeys } = workspace.config.service
  /** Domains with the same problem: an export has one mistake in all of them. */
  const domainsByProblem = new Map<string, Domain[]>()
  return extractConfigs(data, domain, (...args) => file.reportShape(...args)).flatMap((entry) => {
    const name = entry.domain.toLowerCase()
    if (!isAcceleratedDomain(name)) {
      reportName(file, entry, workspace.scrub(markForeign(entry.domain)).slice(0, 80))
      return []
    }
    const likely = [...(workspace.desired.get(name)?.keys() ?? [])]
    return Object.entries(entry.config).flatMap(([wireName, observed]): Found[] => {
      const item = findItemByWireName(wireName, observed, itemKeys, likely) ?? wireName
      if (isUnnamed(item, itemKeys)) {
        const reason = `service.itemKeys in edgewise.yaml does not have "${item}: ${wireName}"`
        file.skipped.push({ domain: name, item, reason })
        return []
      }
      const pointer = entry.pointer + formatPointerStep(wireName)
      const hides = entry.isQueried || catalogue.get(item)?.hidesFields === true
      const known = hides ? recorded.get(name)?.get(item) : undefined
      const parsed = parsePayload(name, item, observed, workspace, known, file.numbersRules)
      if (!('problem' in parsed)) return [{ domain: name, item, ...parsed, file, pointer }]
      const { pointer: inner, reason } = parsed.problem
      const where = inner === '' ? '' : ` at ${inner}`
      if (file.skipsInvalid) {
        file.skipped.push({ domain: name, item, reason: `${reason}${where}` })
        return []
      }
      const key = JSON.stringify([item, inner, reason])
      const others = domainsByProblem.get(key)
      if (others !== undefined) {
        others.push(name)
        return []
      }
      const domains = [name]
      domainsByProblem.set(key, domains)
      file.report(pointer + inner, {
        code: 'item-invalid',
        summary: 'This item can not be imported',
        detail: () => `${item} of ${describeDomains(domains)}${where}: ${reason}`,
        domain: name,
        item,
      })
      return []
    })
  })
}

function reportName(file: ImportFile, { namedAt, pointer }: ExtractedConfig, shown: string): void {
  if (file.skipsInvalid)
    return void file.skipped.push({ domain: shown, item: '*', reason: 'not a domain name' })
  const detail = () => `${JSON.stringify(shown)} is not a domain name${suggestName(shown)}`
  const part = namedAt === pointer ? 'key' : 'value'
  file.report(namedAt, { code: 'domain-invalid', summary: 'Not a domain name', detail, part })
}

function describeDomains([first = '', ...others]: Domain[]): string {
  return others.length === 0 ? first : `${first} and ${pluralize(others.length, 'other domain')}`
}

function parsePayload(
  domain: Domain,
  item: ItemKey,
  observed: Json,
  { desired, vault }: Desired & Secrets,
  known: ItemState | undefined,
  numbersRules: boolean,
): Pick<ParsedPayload, 'payload' | 'unknownFields' | 'notShown'> | { problem: Unreadable } {
  // An item that the catalogue does not know can't be managed; it is skipped later.
  const unset = { payload: null, unknownFields: [], notShown: [] }
  if (!catalogue.has(item)) return unset
  const long = findLongText(observed)
  if (long !== null) return { problem: long }
  const spec = getItemSpec(item)
  const state = desired.get(domain)?.get(item)
  const shown = restoreShape(spec, observed, state?.candidates[0])
  const [recorded] = known?.status === 'confirmed' ? known.candidates : []
  const { payload, notVerifiable } =
    recorded === undefined
      ? { payload: shown, notVerifiable: [] }
      : spec.observe(dropFields(recorded, known?.unknownFields), shown)
  const earlier =
    recorded === undefined ? null : { value: recorded, unknown: known?.unknownFields ?? [] }
  const unknownFields = listUnknown(spec, earlier, payload)
  // Where only the manifest has a field, its value is sent before it counts as known.
  const [wanted] = state?.candidates ?? []
  const given =
    unknownFields.length === 0 || wanted === undefined
      ? payload
      : spec.observe(wanted, payload).payload
  const completed = numbersRules && item === 'head_control' ? numberRules(given) : given
  if (!isObject(completed) && isUnset(completed)) return unset
  const wire = parseItem(spec, completed, 'wire')
  const problem = wire.problems.find(({ severity }) => severity === 'error')
  if (problem !== undefined)
    return {
      problem: describeProblem(spec, problem, completed, state?.candidates ?? [], {
        vault,
        maker: 'foreign',
      }),
    }
  // The schema check above limits the nesting depth for this recursive check.
  const imperative = parseItem(spec, completed, 'manifest').problems.find(isImperative)
  const reason = 'it is an action, not configuration'
  if (imperative !== undefined) return { problem: { pointer: imperative.pointer, reason } }
  const notShown = [...notVerifiable, ...listOmittedHidden(spec, payload)]
  return isUnset(wire.payload) ? unset : { payload: wire.payload, unknownFields, notShown }
}

/** Finds a text that no manifest may have; the nesting of an import file is limited. */
function findLongText(value: Json, pointer = ''): Unreadable | null {
  if (typeof value === 'string') {
    const reason = findTextFault(value)
    return reason === null ? null : { pointer, reason }
  }
  if (typeof value !== 'object' || value === null) return null
  for (const [key, inner] of Object.entries(value)) {
    const found = findLongText(inner, pointer + formatPointerStep(key))
    if (found !== null) return found
  }
  return null
}
