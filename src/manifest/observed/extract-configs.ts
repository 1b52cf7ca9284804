import { formatPointerStep, isObject, type Json, type JsonObject } from '../../core/model/json.ts'

/** Configuration of a domain, as a file or a program has it. */
export interface ExtractedConfig {
  /** As it is written. */
  domain: string
  config: JsonObject
  /** JSON pointer of the configuration. */
  pointer: string
  /** JSON pointer of the domain's name, or of the configuration if its key is the name. */
  namedAt: string
  /** Whether it was queried: fields that the service never shows are missing. */
  isQueried: boolean
}

type Report = (pointer: string, detail: string) => void

/**
 * Extracts the configurations of domains: from an object by domain, an answer of the service with
 * `data`, the body of a request, an entry of an answer, or a list of these.
 *
 * @param domain domain of a configuration without a name; null if none can be given
 * @param at JSON pointer of the data
 */
export function extractConfigs(
  data: Json,
  domain: string | null | undefined,
  report: Report,
  at = '',
): ExtractedConfig[] {
  if (Array.isArray(data) && data.length > 0)
    return data.flatMap((each, i) => extractConfigs(each, domain, report, `${at}/${i}`))
  if (!isObject(data)) {
    report(at, `expected an object, got ${describeType(data)}`)
    return []
  }
  const { code = 0, data: inner } = data
  const answer = isObject(inner) && findConfig(inner) !== null ? inner : null
  if ((answer !== null || Array.isArray(inner)) && String(code) !== '0') {
    report(
      `${at}/code`,
      'expected an answer with code 0, got another code: it holds no configuration',
    )
    return []
  }
  if (answer !== null) return extractShared(answer, data, domain, report, [at, `${at}/data`])
  if (findConfig(data) !== null) return extractShared(data, data, domain, report, [at, at])
  return Array.isArray(inner)
    ? inner.flatMap((entry, i) => extractEntry(entry, report, `${at}/data/${i}`))
    : extractByDomain(data, report, at)
}

/** Finds the configuration of an entry; an empty one comes back as an empty list. */
function findConfig({ config = null }: JsonObject): JsonObject | null {
  return Array.isArray(config) && config.length === 0 ? {} : isObject(config) ? config : null
}

function extractEntry(entry: Json, report: Report, at: string): ExtractedConfig[] {
  if (isObject(entry) && typeof entry['domain'] === 'string' && findConfig(entry) !== null)
    return extractConfigs(entry, null, report, at)
  report(at, 'expected "domain" and "config" in each entry of "data"')
  return []
}

function extractByDomain(data: JsonObject, report: Report, at: string): ExtractedConfig[] {
  return Object.entries(data).flatMap(([domain, config]) => {
    const pointer = at + formatPointerStep(domain)
    if (isObject(config)) return [{ domain, config, pointer, namedAt: pointer, isQueried: false }]
    report(pointer, `expected an object of items, got ${describeType(config)}`)
    return []
  })
}

/** Extracts a configuration that has all of its domains beside it, or in the object around. */
function extractShared(
  body: JsonObject,
  around: JsonObject,
  given: string | null | undefined,
  report: Report,
  [above, at]: [string, string],
): ExtractedConfig[] {
  const config = findConfig(body) ?? {}
  const about = { config, pointer: `${at}/config`, isQueried: typeof body['domain'] === 'string' }
  const places: [string, Json | undefined][] = [
    [`${at}/domains`, body['domains']],
    [`${at}/domain`, body['domain']],
    [`${above}/domains`, around['domains']],
    [at, given],
  ]
  for (const [namedAt, value] of places) {
    const names = parseDomainNames(value)
    if (names.length > 0) return names.map((domain) => ({ domain, namedAt, ...about }))
  }
  report(at, `the configuration names no domain${given === null ? '' : '; pass --domain'}`)
  return []
}

function parseDomainNames(value: Json | undefined): string[] {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim())
  const names = Array.isArray(value) ? value : []
  return names.flatMap((entry) => {
    const name = isObject(entry) ? entry['domain'] : entry
    return typeof name === 'string' ? [name] : []
  })
}

function describeType(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
