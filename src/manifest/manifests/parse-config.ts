import { getOrAdd } from '../../core/model/lists.ts'
import { catalogue } from '../../core/catalog/catalogue.ts'
import { dropFields, isHiddenField, listOmittedHidden } from '../../core/catalog/hidden-fields.ts'
import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import {
  findHeaderCredentials,
  type HeaderCredential,
} from '../../core/catalog/header-credentials.ts'
import { parseItem, findSecretFields, type ParsedItem } from '../../core/catalog/parse-item.ts'
import { isUnnamed } from '../../core/catalog/wire-names.ts'
import { findConflicts } from '../../core/catalog/conflicts.ts'
import {
  createItemState,
  unsetState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Value,
} from '../../core/model/item.ts'
import {
  resolvePointer,
  isObject,
  getOwn,
  formatPointerStep,
  mapParts,
  type Json,
  type JsonObject,
  isSameJson,
} from '../../core/model/json.ts'
import { problemSummaries } from '../../core/model/problem.ts'
import type { SecretKeeper } from '../../core/model/secret.ts'
import type { Finding } from './finding.ts'
import { findMisplacedSecrets } from '../secrets/misplaced-secrets.ts'
import { replaceReferences, type Names, type ReplacementBudget } from './references.ts'
import type { ItemCache } from './item-cache.ts'
import { createNoUnset, parseUnset, type ParsedState } from './parse-unset.ts'
import { createUnknownItem } from './unknown-names.ts'

/** The settings of the workspace that parsing a configuration needs. */
export interface ConfigContext {
  secrets: ReadonlySet<string>
  keeper: SecretKeeper
  allowLiteralSecrets: boolean
  itemKeys: Record<ItemKey, string>
  /** Whether the account can unset any item (`service.unset`). */
  deletes: boolean
  itemCache: ItemCache
  budget: ReplacementBudget
  /** Findings about unknown items by name, of one run; filled here. */
  unknownItems: Map<string, Finding>
  /** Number of items of oversized configurations that may still be checked; counted here. */
  itemsLeft: { count: number }
  /** Whether the configuration is a part: rules between fields and items are not checked. */
  partial?: boolean
}

/** A finding at a pointer of the merged configuration. `other` is the second item involved. */
export interface ConfigFinding extends Finding {
  item: ItemKey
  other?: ItemKey
}

/**
 * Parses the merged configuration of one domain: the items without errors, and all findings.
 *
 * @param shared configuration whose values other domains have too
 */
export function parseConfig(
  config: JsonObject,
  domain: Domain,
  vars: ReadonlyMap<string, string>,
  context: ConfigContext,
  shared: JsonObject = config,
): { items: Map<ItemKey, ItemState>; findings: ConfigFinding[] } {
  context.budget.begin()
  const names: Names = {
    budget: context.budget,
    domain,
    vars,
    secrets: context.secrets,
    refer: (template) => context.keeper.maskTemplate(template),
  }
  const items = new Map<ItemKey, ItemState>()
  const findings: ConfigFinding[] = []
  for (const [item, raw] of Object.entries(config)) {
    const spec = catalogue.get(item)
    const parsed =
      spec === undefined
        ? { state: null, findings: [findUnknownItem(item, context)] }
        : context.itemCache.parse(spec, raw, getOwn(shared, item) === raw, (size) => {
            context.budget.addValues(size)
            const excess = size === 0 ? [] : context.budget.findProblems(formatPointerStep(item))
            return excess.length > 0
              ? { state: null, findings: excess }
              : parseConfigItem(spec, raw, names, context)
          })
    const named = !isUnnamed(item, context.itemKeys)
    const obstacle =
      parsed.state?.status === 'unset' && !context.deletes
        ? (spec?.explainNoUnset?.(domain) ?? null)
        : null
    if (obstacle !== null)
      findings.push({ ...createNoUnset(formatPointerStep(item), obstacle), item })
    else if (parsed.state !== null && named) items.set(item, parsed.state)
    for (const finding of parsed.findings) findings.push({ ...finding, item })
    if (!named) findings.push({ ...createUnnamedItem(item), item })
  }
  if (context.partial !== true) dropConflicting(config, items, findings, context)
  return { items, findings }
}

/** Drops items that exclude others, and adds a finding for each pair; also for a rare pair. */
function dropConflicting(
  config: JsonObject,
  items: Map<ItemKey, ItemState>,
  findings: ConfigFinding[],
  { itemKeys }: ConfigContext,
): void {
  const has = (item: ItemKey) => Object.hasOwn(config, item)
  for (const conflict of findConflicts({ has }, itemKeys)) {
    const { item, other, severity, detail } = conflict
    const unset = [item, other].filter((each) => items.get(each)?.status === 'unset').length
    // Two items that exclude each other may be unset together.
    if (unset === 2 || (severity === 'warning' && unset > 0)) continue
    if (severity === 'error') items.delete(item)
    findings.push({
      code: 'item-conflict',
      severity,
      pointer: formatPointerStep(item),
      part: 'key',
      summary: 'Conflicting items',
      detail,
      item,
      other,
    })
  }
}

/** Lists the JSON pointers of fields that are declared to have no value. */
function listUnset(value: Json, pointer = ''): string[] {
  if (isObject(value) && value['$unset'] === true && Object.keys(value).length === 1)
    return [pointer]
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) =>
        listUnset(inner ?? null, pointer + formatPointerStep(key)),
      )
    : []
}

function parseConfigItem(
  spec: ItemSpec,
  raw: Json,
  names: Names,
  context: ConfigContext,
): ParsedState {
  const pointer = formatPointerStep(spec.key)
  if (isObject(raw) && Object.hasOwn(raw, '$unset'))
    return parseUnset(spec, raw, pointer, context.deletes)
  const absent = listUnset(raw).filter((at) => isHiddenField(spec.schema, at))
  const rest = dropFields(raw, absent)
  const { value, findings, secret } = replaceReferences(rest, names, pointer)
  const misplaced = !secret ? [] : findMisplacedSecrets(spec.schema, value, pointer)
  if (findings.length + misplaced.length > 0)
    return { state: null, findings: [...findings, ...misplaced] }
  const { parsed, literals } = replaceLiterals(spec, value, context)
  const problems = parsed.problems.map(
    ({ code, severity, pointer: innerPointer, detail }): Finding => ({
      code: 'item-invalid',
      severity,
      pointer: pointer + innerPointer,
      ...(code === 'unknown-field' ? { part: 'key' } : {}),
      ...(code === 'missing-field' ? { missing: true } : {}),
      summary: problemSummaries[code],
      detail,
    }),
  )
  if (parsed.value === null || literals.length > 0)
    return { state: null, findings: [...literals, ...problems] }
  const suspected = findHeaderCredentials(parsed.payload).map((found) =>
    createSuspected(found, pointer),
  )
  return {
    state: toState(spec, parsed.payload, parsed.value, absent),
    findings: [...problems, ...suspected],
  }
}

function createSuspected({ header, pointer }: HeaderCredential, item: string): Finding {
  return {
    code: 'secret-suspected',
    severity: 'warning',
    pointer: item + pointer,
    summary: 'A header has what looks like a secret',
    detail:
      `the value of "${header}" is written out, and everybody with the repository can read it. ` +
      'Write a reference such as "${secret:NAME}", define the secret under "secrets" in ' +
      'edgewise.yaml, and replace it if this file was ever shared.',
  }
}

/**
 * Parses an item. A secret literal is sealed by the keeper, or becomes a finding without its value.
 */
function replaceLiterals(
  spec: ItemSpec,
  value: Json,
  context: ConfigContext,
): { parsed: ParsedItem; literals: Finding[] } {
  const checked = context.partial === true ? { ...spec, check: () => [] } : spec
  const parsed = parseItem(checked, value, 'manifest')
  const secretLiterals = findSecretFields(spec, parsed.payload).filter(
    (field) => field.literal && resolvePointer(parsed.payload, field.pointer) !== '',
  )
  if (secretLiterals.length === 0) return { parsed, literals: [] }
  if (context.allowLiteralSecrets) {
    const pointers = new Set(secretLiterals.map((field) => field.pointer))
    return {
      parsed: parseItem(spec, sealValue(parsed.payload, pointers, '', context.keeper), 'manifest'),
      literals: [],
    }
  }
  const detail =
    'this field is a secret: expected a reference such as "${secret:NAME}", got the value ' +
    'itself. Define the secret under "secrets" in edgewise.yaml, and rotate it if this ' +
    'file was ever shared.'
  const literals = secretLiterals.map((field): Finding => ({
    code: 'secret-literal',
    pointer: formatPointerStep(spec.key) + field.pointer,
    summary: 'Secret in plain text',
    detail,
  }))
  return {
    parsed: {
      ...parsed,
      problems: parsed.problems.filter(
        (problem) => !secretLiterals.some((field) => field.pointer === problem.pointer),
      ),
    },
    literals,
  }
}

function sealValue(
  value: Json,
  pointers: ReadonlySet<string>,
  pointer: string,
  keeper: SecretKeeper,
): Json {
  if (typeof value === 'string')
    return pointers.has(pointer) ? { $secret: keeper.maskLiteral(value).$secret } : value
  return mapParts(value, pointer, (part, at) => sealValue(part, pointers, at, keeper))
}

/** Converts a value to a state; an emptied value is the same as an unset item. */
function toState(spec: ItemSpec, payload: Json, value: Value, absent: string[]): ItemState {
  const omitted = listOmittedHidden(spec, payload).filter((pointer) => !absent.includes(pointer))
  const state = createItemState(value, omitted)
  if (state === unsetState || !spec.hasSet) return state
  const ordered = spec.canonicalize(payload, true)
  return isSameJson(ordered, value) ? state : { ...state, ordered }
}

/** Returns the finding about an unknown item; the search for a similar name is slow. */
function findUnknownItem(item: string, { unknownItems }: ConfigContext): Finding {
  return getOrAdd(unknownItems, item, () => createUnknownItem(item))
}

function createUnnamedItem(item: ItemKey): Finding {
  const detail =
    `the specification does not give the wire name of "${item}". Set it under "service" in ` +
    `edgewise.yaml: "itemKeys: {${item}: NAME}"; ` +
    `for the emulator: "itemKeys: {${item}: ${item}}".`
  return {
    code: 'item-unnamed',
    pointer: formatPointerStep(item),
    part: 'key',
    summary: 'Wire name not known',
    detail,
  }
}
