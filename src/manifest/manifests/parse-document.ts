import { isAcceleratedDomain, suggestName } from '../../core/catalog/value/formats.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import { describeValue } from '../../core/catalog/value/schema-problems.ts'
import { append } from '../../core/model/lists.ts'
import type { Domain, ItemKey, ItemState } from '../../core/model/item.ts'
import {
  isObject,
  getOwn,
  formatPointerStep,
  type Json,
  type JsonObject,
} from '../../core/model/json.ts'
import type { DiagnosticCode } from '../../core/model/problem.ts'
import { parseExceptions, type DeclaredException } from '../policies/parse-exceptions.ts'
import { parseOwners } from '../owners/parse-owners.ts'
import { checkKeys, parseList, type Report } from './document-keys.ts'
import type { Finding } from './finding.ts'
import type { DocumentPlace, YamlDocument } from '../yaml/yaml-file.ts'

/** Maximum number of keys of a document that are looked up; there are five. */
const maxKeys = 1000

/** The common part of manifests and profiles. */
export interface Declaration {
  document: YamlDocument
  /** Names of profiles in order, each with its index in the document's list. */
  profiles: { name: string; entry: number }[]
  vars: Map<string, string>
  config: JsonObject
}

/** The items of one domain or a list of domains, each with the pointer of its name. */
export interface Manifest extends Declaration {
  kind: 'manifest'
  domains: { domain: Domain; pointer: string }[]
  exceptions: DeclaredException[]
  owners: string[]
}

/** A manifest without a finding that need not be parsed: the items of its domains are known. */
export interface KnownManifest extends Pick<Declaration, 'profiles'> {
  kind: 'known'
  document: DocumentPlace
  owners: string[]
  domains: (Manifest['domains'][number] & { items: Map<ItemKey, ItemState> })[]
}

/** A reusable part of a configuration. */
export interface Profile extends Declaration {
  kind: 'profile'
  name: string
}

/**
 * Parses a YAML document as a manifest or a profile, by its keys; null with findings if it is
 * neither.
 */
export function parseDocument(document: YamlDocument): {
  declaration: Manifest | Profile | null
  findings: Finding[]
} {
  const { value } = document
  const findings: Finding[] = []
  if (!isObject(value)) {
    const got = describeValue(value) + removeDash(value)
    const detail = `expected a mapping with "domain", "domains" or "profile", got ${got}`
    return { declaration: null, findings: [createShapeFinding(detail)] }
  }
  const kind = Object.hasOwn(value, 'profile') ? 'profile' : 'manifest'
  const code: DiagnosticCode = `${kind}-invalid`
  const report = (pointer: string, detail: string, part?: 'key') => {
    findings.push({ code, pointer, part, summary: `This ${kind} is not well-formed`, detail })
  }
  if (kind === 'manifest' && !Object.hasOwn(value, 'domain') && !Object.hasOwn(value, 'domains'))
    return {
      declaration: null,
      findings: [
        createShapeFinding(
          `expected "domain", "domains" or "profile" in this document.${suggestKind(value)}`,
        ),
      ],
    }
  const count = Object.keys(value).length
  if (count > maxKeys) {
    report('', `expected at most ${maxKeys} keys in a ${kind}, got ${count}`)
    return { declaration: null, findings }
  }
  const content = checkKeys(value, kind, report)
  if (kind === 'manifest' && findings.length === 0) checkConfigured(value, report)
  const shared = {
    document,
    profiles: parseProfiles(content, report),
    vars: parseVars(content, report),
    config: parseConfig(content, report),
  }
  if (kind === 'manifest') {
    const domains = parseDomains(content, findings, report)
    const names = domains.map(({ domain }) => domain)
    const { exceptions, findings: refused } = parseExceptions(content['except'], names, document)
    append(findings, refused)
    const owners = parseOwners(content, report)
    return { declaration: { kind, domains, exceptions, owners, ...shared }, findings }
  }
  const name = getOwn(value, 'profile')
  if (typeof name === 'string' && isProfileName(name))
    return { declaration: { kind, name, ...shared }, findings }
  report(
    '/profile',
    `expected a name of letters, digits, ".", "_", "/" and "-", got ${describeValue(name)}`,
  )
  return { declaration: null, findings }
}

/** Tests whether a text may be the name of a profile. */
export function isProfileName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$/.test(text)
}

function suggestKind(value: JsonObject): string {
  const hints = Object.keys(value)
    .slice(0, maxKeys)
    .map((key) =>
      isAcceleratedDomain(key)
        ? ` Write "domain: ${key}", and its items under "config:".`
        : didYouMean(key, ['domain', 'domains', 'profile']),
    )
  return hints.find((hint) => hint !== '') ?? ''
}

function createShapeFinding(detail: string): Finding {
  return {
    code: 'manifest-invalid',
    pointer: '',
    summary: 'Neither a manifest nor a profile',
    detail,
  }
}

function parseDomains(value: JsonObject, findings: Finding[], report: Report): Manifest['domains'] {
  if (Object.hasOwn(value, 'domain') && Object.hasOwn(value, 'domains'))
    report('/domains', 'expected "domain" or "domains", got both', 'key')
  const single = getOwn(value, 'domain')
  const list = getOwn(value, 'domains')
  const entries: { name: Json; pointer: string }[] =
    single === undefined ? [] : [{ name: single, pointer: '/domain' }]
  if (Array.isArray(list))
    append(
      entries,
      list.map((name, i) => ({ name, pointer: `/domains/${i}` })),
    )
  else if (list !== undefined)
    report(
      '/domains',
      `expected a list of domain names, got ${describeValue(list)}. Use "domain" for a single one.`,
    )
  if (Array.isArray(list) && list.length === 0)
    report('/domains', 'expected at least one domain name, got an empty list')
  return entries.flatMap(({ name, pointer }) => {
    if (typeof name === 'string' && isAcceleratedDomain(name))
      return [{ domain: name.toLowerCase(), pointer }]
    const detail =
      'expected a domain name such as www.example.com, or .example.com for all below it (ASCII, ' +
      `at least two labels, no IP address, port or "*"), got ${describeValue(name)}` +
      (Array.isArray(name) && pointer === '/domain' ? '. Use "domains" for a list.' : '') +
      suggestName(String(name))
    findings.push({ code: 'domain-invalid', pointer, summary: 'This is not a domain name', detail })
    return []
  })
}

function parseProfiles(value: JsonObject, report: Report): Declaration['profiles'] {
  const list = parseList(value, 'profiles', 'profile names', report)
  const named: Declaration['profiles'] = []
  const names = new Set<string>()
  list.forEach((name, entry) => {
    if (typeof name !== 'string')
      report(`/profiles/${entry}`, `expected the name of a profile, got ${describeValue(name)}`)
    else if (names.has(name))
      report(`/profiles/${entry}`, `the profile "${name}" is listed twice. Remove one of the two.`)
    else {
      names.add(name)
      named.push({ name, entry })
    }
  })
  return named
}

function parseVars(value: JsonObject, report: Report): Map<string, string> {
  const vars = getOwn(value, 'vars') ?? {}
  const parsed = new Map<string, string>()
  if (!isObject(vars)) {
    report(
      '/vars',
      `expected a mapping of names to strings and numbers, got ${describeValue(vars)}`,
    )
    return parsed
  }
  for (const [name, content] of Object.entries(vars)) {
    const pointer = `/vars${formatPointerStep(name)}`
    if (!/^[A-Za-z_][\w.-]*$/.test(name))
      report(pointer, `expected a name of letters, digits, "_", "." and "-", got "${name}"`, 'key')
    else if (typeof content === 'number') parsed.set(name, String(content))
    else if (typeof content !== 'string')
      report(
        pointer,
        `expected a string or a number, got ${describeValue(content)}. Put quotes around text.`,
      )
    else if (/(?<!\$)\$\{/.test(content))
      report(
        pointer,
        'references are not replaced in "vars": expected plain text. Write "$${" for a ' +
          'literal "${".',
      )
    else parsed.set(name, content.replaceAll('$${', '${'))
  }
  return parsed
}

/** Reports a manifest with neither items nor profiles, which would release everything. */
function checkConfigured(value: JsonObject, report: Report): void {
  const profiles = getOwn(value, 'profiles') ?? []
  const hasProfiles = !Array.isArray(profiles) || profiles.length > 0
  if (hasProfiles || (getOwn(value, 'config') ?? null) !== null) return
  const detail =
    'expected items under "config", or profiles, got neither. "config: {}" releases all items ' +
    'of the domain, except those of "defaults".'
  const key = ['config', 'domains', 'domain'].find((each) => Object.hasOwn(value, each)) ?? ''
  report(formatPointerStep(key), detail, 'key')
}

function parseConfig(value: JsonObject, report: Report): JsonObject {
  const config = getOwn(value, 'config') ?? {}
  const count = isObject(config) ? Object.keys(config).length : 0
  if (count > maxItems) {
    report('/config', `expected at most ${maxItems} items, got ${count}`, 'key')
    return {}
  }
  if (isObject(config)) return config
  report(
    '/config',
    `expected a mapping of items to values, got ${describeValue(config)}${removeDash(config)}`,
  )
  return {}
}

/** Maximum number of items that are looked up, most of which do not exist. */
const maxItems = 10_000

/** Advises to remove the dashes of a list that should be a mapping. */
function removeDash(value: Json): string {
  return Array.isArray(value) ? '. Remove the "-".' : ''
}
