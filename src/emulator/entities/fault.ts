import { getOwn, isObject, type Json, type JsonObject } from '../../core/model/json.ts'

export const faultKinds = [
  'delay',
  'error',
  'reset-before',
  'reset-after',
  'truncated',
  'not-json',
  'gateway',
  'unauthorized-from',
  'rate',
  'refuse',
  'partial',
  'rewrite',
  'gusts',
] as const
export type FaultKind = (typeof faultKinds)[number]

/**
 * A fault on selected calls. Without `on` and `probability` it affects every call that it applies
 * to.
 */
export interface Fault {
  kind: FaultKind
  /** Numbers of the affected calls, from 1. */
  on?: number[]
  probability?: number
  /** Restricts the fault to calls that name this domain or item. */
  domain?: string
  item?: string
  /** With `delay`: duration, ms. */
  ms?: number
  /** With `error` and `gateway`: the HTTP status. */
  status?: number
  /** With `rate`: calls admitted in 60 seconds. */
  limit?: number
  /** With `refuse` and `partial`: whether the message names the refused domain or item. */
  named?: boolean
  /** With `gusts`: the largest factor by which a gust multiplies errors. */
  factor?: number
}

/** For each field, a check of its value and a description of valid values. */
const fields: {
  [K in Exclude<keyof Fault, 'kind'>]-?: [accepts: (value: Json) => boolean, expected: string]
} = {
  on: [
    (value) => Array.isArray(value) && value.length > 0 && value.every((n) => isWhole(n, 1)),
    'a list of call numbers from 1',
  ],
  probability: [
    (value) => typeof value === 'number' && value >= 0 && value <= 1,
    'a number from 0 to 1',
  ],
  domain: [(value) => typeof value === 'string' && value !== '', 'the name of a domain'],
  item: [(value) => typeof value === 'string' && value !== '', 'the name of an item'],
  ms: [(value) => isWhole(value, 0, 600_000), 'a whole number from 0 to 600000'],
  status: [(value) => isWhole(value, 400, 599), 'a whole number from 400 to 599'],
  limit: [(value) => isWhole(value, 0), 'a whole number from 0'],
  named: [(value) => typeof value === 'boolean', 'true or false'],
  factor: [
    (value) => typeof value === 'number' && value >= 1 && value <= 100,
    'a number from 1 to 100',
  ],
}
/** Fields that only some kinds have. */
const fieldsOfKinds: Partial<Record<keyof Fault, FaultKind[]>> = {
  ms: ['delay'],
  status: ['error', 'gateway'],
  limit: ['rate'],
  named: ['refuse', 'partial'],
  factor: ['gusts'],
}

/**
 * Parses the faults of the control surface or of the file of `--faults`; returns a string that
 * describes the problem if they are invalid.
 */
export function parseFaults(body: Json): Fault[] | string {
  const list = isObject(body) && Object.keys(body).length === 1 ? getOwn(body, 'faults') : undefined
  if (!Array.isArray(list)) return 'expected an object with only "faults", which is a list'
  const faults: Fault[] = []
  for (const [i, given] of list.entries()) {
    const fault = parseFault(given)
    if (typeof fault === 'string') return `faults[${i}]: ${fault}`
    faults.push(fault)
  }
  return faults
}

function parseFault(given: Json): Fault | string {
  if (!isObject(given)) return 'expected a fault to be an object with "kind"'
  const kind = getOwn(given, 'kind')
  if (!isKind(kind)) {
    const found = JSON.stringify(kind ?? null)
    return `expected "kind" to be one of ${faultKinds.join(', ')}, got ${found}`
  }
  const wrong = Object.entries(given).map(([name, value]) => findFieldProblem(kind, name, value))
  const problem = wrong.find((each) => each !== null) ?? findConflict(kind, given)
  if (problem !== null) return problem
  const domain = getOwn(given, 'domain')
  return {
    ...given,
    ...(typeof domain === 'string' ? { domain: domain.toLowerCase() } : {}),
  } as unknown as Fault
}

function isKind(kind: Json | undefined): kind is FaultKind {
  return faultKinds.some((each) => each === kind)
}

function findFieldProblem(kind: FaultKind, name: string, value: Json): string | null {
  if (name === 'kind') return null
  if (!Object.hasOwn(fields, name))
    return `a fault has no field "${name}"; its fields are kind, ${Object.keys(fields).join(', ')}`
  const kinds = fieldsOfKinds[name as keyof Fault]
  if (kinds !== undefined && !kinds.includes(kind))
    return `"${name}" belongs to ${kinds.join(' and ')}, not to ${kind}`
  const [accepts, expected] = fields[name as keyof typeof fields]
  return accepts(value)
    ? null
    : `expected "${name}" to be ${expected}, got ${JSON.stringify(value)}`
}

function findConflict(kind: FaultKind, given: JsonObject): string | null {
  if (Object.hasOwn(given, 'on') && Object.hasOwn(given, 'probability'))
    return 'expected "on" or "probability", got both'
  if (kind === 'refuse' && !Object.hasOwn(given, 'domain') && !Object.hasOwn(given, 'item')) {
    return 'expected "refuse" to have a "domain" or an "item" that is refused'
  }
  return null
}

function isWhole(value: Json, min: number, max = Number.MAX_SAFE_INTEGER): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
}
