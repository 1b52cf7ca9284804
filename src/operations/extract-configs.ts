import { formatPointerStep, getOwn, isObject, type Json, type JsonObject } from '../model/json.ts'

/** Configuration of a domain in an import file. */
export interface ExtractedConfig {
  /** As in the file. */
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
 * Extracts the configurations of domains from the data of an import file: an object by domain, or
 * an answer of the service with `data`.
 *
 * @param domain domain of an answer that names none
 */
export function extractConfigs(
  data: Json,
  domain: string | undefined,
  report: Report,
): ExtractedConfig[] {
  if (!isObject(data)) {
    report('', `expected an object, got ${describeType(data)}`)
    return []
  }
  const inner = getOwn(data, 'data')
  const isAnswer = Array.isArray(inner) || (isObject(inner) && isObject(inner['config']))
  if (!isAnswer) return extractByDomain(data, report)
  const code = getOwn(data, 'code')
  if (code !== undefined && String(code) !== '0') {
    report('/code', 'expected an answer with code 0, got another code: it holds no configuration')
    return []
  }
  return Array.isArray(inner)
    ? extractList(inner, report)
    : extractShared(data, inner, domain, report)
}

function extractByDomain(data: JsonObject, report: Report): ExtractedConfig[] {
  return Object.entries(data).flatMap(([domain, config]) => {
    const pointer = formatPointerStep(domain)
    if (isObject(config)) return [{ domain, config, pointer, namedAt: pointer, isQueried: false }]
    report(pointer, `expected an object of items, got ${describeType(config)}`)
    return []
  })
}

function extractList(entries: Json[], report: Report): ExtractedConfig[] {
  return entries.flatMap((entry, i) => {
    const found = isObject(entry) ? getOwn(entry, 'config') : undefined
    // An empty configuration comes back as an empty list.
    const config = Array.isArray(found) && found.length === 0 ? {} : found
    const domain = isObject(entry) ? getOwn(entry, 'domain') : undefined
    if (typeof domain !== 'string' || !isObject(config)) {
      report(`/data/${i}`, 'expected "domain" and "config" in each entry of "data"')
      return []
    }
    const pointer = `/data/${i}/config`
    return [{ domain, config, pointer, namedAt: `/data/${i}/domain`, isQueried: true }]
  })
}

/** Extracts the configuration of an answer, which all of its domains have. */
function extractShared(
  data: JsonObject,
  inner: JsonObject,
  domain: string | undefined,
  report: Report,
): ExtractedConfig[] {
  const config = inner['config']
  const within = getOwn(inner, 'domains')
  const names = parseDomainNames(within ?? getOwn(data, 'domains'))
  const domains = names ?? (domain === undefined ? null : [domain])
  if (domains === null) report('/data', 'the answer names no domain; pass --domain')
  const namedAt = names === null ? '/data' : within === undefined ? '/domains' : '/data/domains'
  return (domains ?? []).map((name) => ({
    domain: name,
    config: isObject(config) ? config : {},
    pointer: '/data/config',
    namedAt,
    isQueried: false,
  }))
}

function parseDomainNames(value: Json | undefined): string[] | null {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim())
  if (!Array.isArray(value) || value.length === 0) return null
  return value.flatMap((entry) =>
    typeof entry === 'string'
      ? [entry]
      : isObject(entry) && typeof entry['domain'] === 'string'
        ? [entry['domain']]
        : [],
  )
}

function describeType(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
