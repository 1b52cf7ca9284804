import { catalogue, unnamedItems } from '../catalog/catalogue.ts'
import type { ItemSpec } from '../catalog/item-spec.ts'
import { parseItem, findSecretFields, type ParsedItem } from '../catalog/parse-item.ts'
import { findConflicts } from '../catalog/conflicts.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import {
  createConfirmedState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Value,
} from '../model/item.ts'
import {
  resolvePointer,
  isObject,
  formatPointerStep,
  type Json,
  type JsonObject,
} from '../model/json.ts'
import { problemSummaries } from '../model/problem.ts'
import type { SecretKeeper } from '../model/secret-keeper.ts'
import type { Finding } from './finding.ts'
import { findMisplacedSecrets } from './misplaced-secrets.ts'
import { replaceReferences, type Names } from './references.ts'
import { parseItemCached, type ItemCache } from './item-cache.ts'

/** What the items of a configuration rest on besides the configuration. */
export interface ConfigContext {
  secrets: ReadonlySet<string>
  keeper: SecretKeeper
  allowLiteralSecrets: boolean
  itemKeys: Record<ItemKey, string>
  itemCache: ItemCache
}

/**
 * A finding at a pointer of the merged configuration; `other`: the item that it is about as well.
 */
export interface ConfigFinding extends Finding {
  item: ItemKey
  other?: ItemKey
}

/**
 * The items of one domain from its merged configuration: those without errors, and everything that
 * is wrong.
 */
export function parseConfig(
  config: JsonObject,
  domain: Domain,
  vars: ReadonlyMap<string, string>,
  rules: ConfigContext,
): { items: Map<ItemKey, ItemState>; findings: ConfigFinding[] } {
  const names: Names = {
    domain,
    vars,
    secrets: rules.secrets,
    refer: (template) => rules.keeper.maskTemplate(template),
  }
  const items = new Map<ItemKey, ItemState>()
  const findings: ConfigFinding[] = []
  for (const [item, raw] of Object.entries(config)) {
    const spec = catalogue.get(item)
    const read =
      spec === undefined
        ? { held: null, findings: [unknownItem(item)] }
        : readOne(spec, raw, names, rules)
    const named =
      spec === undefined || !unnamedItems.includes(item) || Object.hasOwn(rules.itemKeys, item)
    if (!named) read.findings.push(unnamed(item))
    if (read.held !== null && named) items.set(item, read.held)
    findings.push(...read.findings.map((finding) => ({ ...finding, item })))
  }
  for (const conflict of findConflicts(new Set(Object.keys(config)))) {
    const { item, other, severity, detail } = conflict
    const idle = items.get(item)?.status === 'unset' || items.get(other)?.status === 'unset'
    if (severity === 'warning' && idle) continue
    if (severity === 'error') items.delete(item)
    findings.push({
      code: 'item-conflict',
      severity,
      pointer: formatPointerStep(item),
      part: 'key',
      summary: 'Items that do not go together',
      detail,
      item,
      other,
    })
  }
  return { items, findings }
}

interface ReadOne {
  held: ItemState | null
  findings: Finding[]
}

function readOne(spec: ItemSpec, raw: Json, names: Names, rules: ConfigContext): ReadOne {
  const pointer = formatPointerStep(spec.key)
  if (isObject(raw) && Object.hasOwn(raw, '$unset')) return unset(spec, raw, pointer)
  const { value, findings, secret } = replaceReferences(raw, names, pointer)
  const misplaced = !secret ? [] : findMisplacedSecrets(spec.schema, value, pointer)
  if (findings.length + misplaced.length > 0)
    return { held: null, findings: [...findings, ...misplaced] }
  const { read, literals } = withoutLiterals(spec, value, names, rules)
  const problems = read.problems.map(({ code, severity, pointer: at, detail }): Finding => ({
    code: 'item-invalid',
    severity,
    pointer: pointer + at,
    ...(code === 'unknown-field' ? { part: 'key' } : {}),
    summary: problemSummaries[code],
    detail,
  }))
  if (read.value === null || literals.length > 0)
    return { held: null, findings: [...literals, ...problems] }
  return { held: heldOf(spec, read.value), findings: problems }
}

/**
 * Reads an item; a secret written out becomes one the keeper knows, or a finding that does not
 * repeat it.
 */
function withoutLiterals(
  spec: ItemSpec,
  value: Json,
  names: Names,
  rules: ConfigContext,
): { read: ParsedItem; literals: Finding[] } {
  const read = parseItemCached(spec, value, names.domain, rules.itemCache)
  const literal = findSecretFields(spec, read.payload).filter(
    (field) => field.literal && resolvePointer(read.payload, field.pointer) !== '',
  )
  if (literal.length === 0) return { read, literals: [] }
  if (rules.allowLiteralSecrets) {
    const pointers = new Set(literal.map((field) => field.pointer))
    return {
      read: parseItem(
        spec,
        sealed(read.payload, pointers, '', rules.keeper),
        'manifest',
        names.domain,
      ),
      literals: [],
    }
  }
  const detail =
    'this field always holds a secret: expected a reference such as "${secret:NAME}", got the value itself. Name its source under "secrets" in edgewise.yaml, and change the secret if this file was ever shared.'
  const literals = literal.map((field): Finding => ({
    code: 'secret-literal',
    pointer: formatPointerStep(spec.key) + field.pointer,
    summary: 'A secret is written out',
    detail,
  }))
  return {
    read: {
      ...read,
      problems: read.problems.filter(
        (problem) => !literal.some((field) => field.pointer === problem.pointer),
      ),
    },
    literals,
  }
}

function sealed(
  value: Json,
  pointers: ReadonlySet<string>,
  pointer: string,
  keeper: SecretKeeper,
): Json {
  if (typeof value === 'string')
    return pointers.has(pointer) ? { $secret: keeper.maskLiteral(value).$secret } : value
  if (Array.isArray(value))
    return value.map((entry, i) => sealed(entry, pointers, `${pointer}/${i}`, keeper))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      sealed(field, pointers, pointer + formatPointerStep(key), keeper),
    ]),
  )
}

/** An emptied value is the same as an item that is unset. */
function heldOf(spec: ItemSpec, value: Value): ItemState {
  return spec.reduce(undefined, value) === undefined
    ? { status: 'unset', candidates: [] }
    : createConfirmedState(value)
}

function unset(spec: ItemSpec, raw: JsonObject, pointer: string): ReadOne {
  const say = (at: string, detail: string): ReadOne => ({
    held: null,
    findings: [
      {
        code: 'item-invalid',
        pointer: pointer + at,
        part: 'key',
        summary: 'A misplaced "$unset"',
        detail,
      },
    ],
  })
  const beside = Object.keys(raw).find((key) => key !== '$unset')
  if (beside !== undefined)
    return say(
      formatPointerStep(beside),
      `"$unset" stands alone in its item, and "${beside}" is beside it`,
    )
  if (raw['$unset'] !== true)
    return say(
      '/$unset',
      '"$unset" takes the value true. To leave the item out, give it the value null.',
    )
  if (spec.unset !== undefined) return { held: { status: 'unset', candidates: [] }, findings: [] }
  const detail = `the service documents no way back for "${spec.key}". Take the item out of the manifest instead: it is then released, and stays at the service as it is.`
  return {
    held: null,
    findings: [
      {
        code: 'unset-unavailable',
        pointer,
        part: 'key',
        summary: "This item can't be unset",
        detail,
      },
    ],
  }
}

function unknownItem(item: string): Finding {
  const hint = didYouMean(item, catalogue.keys()) || ' "edgewise explain" lists all items.'
  return {
    code: 'item-unknown',
    pointer: formatPointerStep(item),
    part: 'key',
    summary: 'An unknown item',
    detail: `there is no item "${item}".${hint}`,
  }
}

function unnamed(item: ItemKey): Finding {
  const detail = `the service's specification leaves out what "${item}" is called there. Add the name to edgewise.yaml, under "service": "itemKeys: {${item}: NAME}"; the emulator takes "itemKeys: {${item}: ${item}}".`
  return {
    code: 'item-unnamed',
    pointer: formatPointerStep(item),
    part: 'key',
    summary: "The service's name of this item is not known",
    detail,
  }
}
