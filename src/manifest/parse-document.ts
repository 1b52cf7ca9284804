import { isDomain } from '../catalog/value/formats.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import { describeValue } from '../catalog/value/schema-problems.ts'
import type { Domain } from '../model/item.ts'
import { isObject, getOwn, formatPointerStep, type Json, type JsonObject } from '../model/json.ts'
import type { DiagnosticCode } from '../model/problem.ts'
import type { Finding } from './finding.ts'
import type { YamlDocument } from './yaml-file.ts'

/** What manifests and profiles have in common. */
export interface Declaration {
  document: YamlDocument
  /** Names of profiles in order; the index is that of the document's list. */
  profiles: { name: string; entry: number }[]
  vars: Map<string, string>
  config: JsonObject
}

/** The items of one domain, or of a list of domains, each with where it is named. */
export interface Manifest extends Declaration {
  kind: 'manifest'
  domains: { domain: Domain; pointer: string }[]
}

/** A reusable part of a configuration. */
export interface Profile extends Declaration {
  kind: 'profile'
  name: string
}

/** The keys of a manifest and of a profile, in their canonical order. */
export const documentKeys = {
  manifest: ['domain', 'domains', 'profiles', 'vars', 'config'],
  profile: ['profile', 'profiles', 'vars', 'config'],
}

/** What a YAML document declares, by its keys; null with findings where that can't be told. */
export function parseDocument(document: YamlDocument): {
  declaration: Manifest | Profile | null
  findings: Finding[]
} {
  const { value } = document
  const findings: Finding[] = []
  if (!isObject(value))
    return {
      declaration: null,
      findings: [
        shapeless(
          `expected a mapping with "domain", "domains" or "profile", got ${describeValue(value)}`,
        ),
      ],
    }
  const kind = Object.hasOwn(value, 'profile') ? 'profile' : 'manifest'
  const code: DiagnosticCode = `${kind}-invalid`
  const say = (pointer: string, detail: string, part?: 'key') => {
    findings.push({ code, pointer, part, summary: `This ${kind} is not well-formed`, detail })
  }
  if (kind === 'manifest' && !Object.hasOwn(value, 'domain') && !Object.hasOwn(value, 'domains')) {
    const near = Object.keys(value).map((key) => didYouMean(key, ['domain', 'domains', 'profile']))
    return {
      declaration: null,
      findings: [
        shapeless(
          `expected "domain", "domains" or "profile" in this document.${near.find((hint) => hint !== '') ?? ''}`,
        ),
      ],
    }
  }
  for (const key of Object.keys(value)) {
    if (kind === 'profile' && (key === 'domain' || key === 'domains'))
      say(
        formatPointerStep(key),
        `a profile has no "${key}": manifests name it in their "profiles"`,
        'key',
      )
    else if (!documentKeys[kind].includes(key))
      say(
        formatPointerStep(key),
        `there is no key "${key}" in a ${kind}.${known(key, documentKeys[kind])}`,
        'key',
      )
  }
  const shared = {
    document,
    profiles: profilesOf(value, say),
    vars: varsOf(value, say),
    config: configOf(value, say),
  }
  if (kind === 'manifest')
    return { declaration: { kind, domains: domainsOf(value, findings, say), ...shared }, findings }
  const name = getOwn(value, 'profile')
  if (typeof name === 'string' && /^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$/.test(name))
    return { declaration: { kind, name, ...shared }, findings }
  say(
    '/profile',
    `expected a name of letters, digits, ".", "_", "/" and "-", got ${describeValue(name)}`,
  )
  return { declaration: null, findings }
}

type Say = (pointer: string, detail: string, part?: 'key') => void

function shapeless(detail: string): Finding {
  return {
    code: 'manifest-invalid',
    pointer: '',
    summary: 'Neither a manifest nor a profile',
    detail,
  }
}

function known(key: string, keys: string[]): string {
  return didYouMean(key, keys) || ` It has: ${keys.join(', ')}.`
}

function domainsOf(value: JsonObject, findings: Finding[], say: Say): Manifest['domains'] {
  if (Object.hasOwn(value, 'domain') && Object.hasOwn(value, 'domains'))
    say('/domains', 'expected "domain" or "domains", got both', 'key')
  const single = getOwn(value, 'domain')
  const list = getOwn(value, 'domains')
  const entries: { name: Json; pointer: string }[] =
    single === undefined ? [] : [{ name: single, pointer: '/domain' }]
  if (Array.isArray(list))
    entries.push(...list.map((name, i) => ({ name, pointer: `/domains/${i}` })))
  else if (list !== undefined)
    say(
      '/domains',
      `expected a list of domain names, got ${describeValue(list)}. Use "domain" for a single one.`,
    )
  if (Array.isArray(list) && list.length === 0)
    say('/domains', 'expected at least one domain name, got an empty list')
  return entries.flatMap(({ name, pointer }) => {
    if (typeof name === 'string' && isDomain(name)) return [{ domain: name.toLowerCase(), pointer }]
    const detail = `expected a domain name such as www.example.com (ASCII, at least two labels, no IP address, port or wildcard), got ${describeValue(name)}`
    findings.push({ code: 'domain-invalid', pointer, summary: 'This is not a domain name', detail })
    return []
  })
}

function profilesOf(value: JsonObject, say: Say): Declaration['profiles'] {
  const list = getOwn(value, 'profiles') ?? []
  if (!Array.isArray(list)) {
    say('/profiles', `expected a list of profile names, got ${describeValue(list)}`)
    return []
  }
  const named: Declaration['profiles'] = []
  const names = new Set<string>()
  list.forEach((name, entry) => {
    if (typeof name !== 'string')
      say(`/profiles/${entry}`, `expected the name of a profile, got ${describeValue(name)}`)
    else if (names.has(name))
      say(
        `/profiles/${entry}`,
        `the profile "${name}" stands twice in this list. Keep one of them.`,
      )
    else {
      names.add(name)
      named.push({ name, entry })
    }
  })
  return named
}

function varsOf(value: JsonObject, say: Say): Map<string, string> {
  const vars = getOwn(value, 'vars') ?? {}
  const read = new Map<string, string>()
  if (!isObject(vars)) {
    say('/vars', `expected a mapping of names to strings and numbers, got ${describeValue(vars)}`)
    return read
  }
  for (const [name, content] of Object.entries(vars)) {
    const pointer = `/vars${formatPointerStep(name)}`
    if (!/^[A-Za-z_][\w.-]*$/.test(name))
      say(pointer, `expected a name of letters, digits, "_", "." and "-", got "${name}"`, 'key')
    else if (typeof content === 'number') read.set(name, String(content))
    else if (typeof content !== 'string')
      say(
        pointer,
        `expected a string or a number, got ${describeValue(content)}. Put quotes around text.`,
      )
    else if (/(?<!\$)\$\{/.test(content))
      say(
        pointer,
        'references are not replaced in "vars": expected plain text. Write "$${" for a literal "${".',
      )
    else read.set(name, content.replaceAll('$${', '${'))
  }
  return read
}

function configOf(value: JsonObject, say: Say): JsonObject {
  const config = getOwn(value, 'config') ?? {}
  if (isObject(config)) return config
  say('/config', `expected a mapping of items to values, got ${describeValue(config)}`)
  return {}
}
