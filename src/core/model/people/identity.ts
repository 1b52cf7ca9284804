import { lowerAscii } from '../text/lower-ascii.ts'

/**
 * Namespaces of users, by how somebody is known: how `roles` and names write a subject of each, and
 * whether different subjects of one issuer are different people. Anybody may start a job. Verified
 * e-mail addresses are one more namespace: they have an "@" and no ":".
 */
const namespaces = {
  oidc: { prefix: 'subject:', isPerson: true },
  proxy: { prefix: '', isPerson: true },
  ci: { prefix: 'ci:', isPerson: false },
  database: { prefix: 'database:', isPerson: true },
  token: { prefix: 'token', isPerson: false },
  unidentified: { prefix: 'unidentified', isPerson: false },
  serve: { prefix: '', isPerson: false },
} as const

/** How it is known who decides. */
export type KnownBy = Exclude<keyof typeof namespaces, 'serve'>

/** Who does something, for decisions and the history; `serve`: the controller of itself. */
export type Actor = {
  /** For people; it may change. */
  name: string
  knownBy: KnownBy | 'serve'
  /** Address of the issuer that names the subject; absent: this proxy or database. */
  issuer?: string
  /** Absent for those whom nothing but their name shows. */
  sub?: string
}

/** Somebody who asks for something: a person, a job, or a holder of the token. */
export interface Identity extends Actor {
  knownBy: KnownBy
  groups: string[]
  /** Proven e-mail address, in lower case; null without one. */
  email: string | null
}

/** Maximum length of a name and of a group, and maximum number of groups. */
export const identityLimits = { name: 256, groups: 200 }

/** Everybody with the token of `edgewise serve`. */
export const tokenHolder: Identity = nameMachine('token')
/** Somebody of whom nothing is known but what the own machine says. */
export const unidentified: Identity = nameMachine('unidentified')

function nameMachine(name: 'token' | 'unidentified'): Identity {
  return { name, knownBy: name, groups: [], email: null }
}

/**
 * Identifies a person, a job or a role of the database by its subject; null if that is not usable.
 * The name is the verified e-mail address, or else the subject, as `roles` writes it.
 *
 * @param groups those that are no text of a usable length are left out
 */
export function identify(
  knownBy: 'oidc' | 'proxy' | 'ci' | 'database',
  sub: string,
  { issuer, groups, email }: { issuer?: string; groups?: unknown; email?: string | null } = {},
): Identity | null {
  const address = parseAddress(email ?? '')
  const name = address ?? namespaces[knownBy].prefix + sub
  if (!isName(sub) || (knownBy === 'proxy' && isReserved(name))) return null
  const listed = Array.isArray(groups) ? groups : [groups]
  const usable = listed.filter((group) => typeof group === 'string' && isName(group))
  return {
    name,
    knownBy,
    ...(issuer === undefined ? {} : { issuer }),
    sub,
    groups: [...new Set<string>(usable)].slice(0, identityLimits.groups),
    email: address,
  }
}

/** Lists how `roles` may write somebody: by the name, and by the subject. */
export function listUserNames({ name, knownBy, sub = '' }: Identity): string[] {
  return [name, namespaces[knownBy].prefix + sub]
}

/** Parses an e-mail address: only A to Z are put into lower case. Null for other texts. */
export function parseAddress(text: string): string | null {
  return /^[^\s:@]+@[^\s:@]+$/.test(text) ? lowerAscii(text) : null
}

/** Normalizes a user of roles or a proxy: letter case of addresses alone does not count. */
export function normalizeUser(user: string): string {
  return parseAddress(user) ?? user
}

/**
 * Returns whether two are shown to be different people: by different subjects of one issuer that
 * names people, under different names; letter case shows nothing. Over two issuers, or known in
 * two ways, they may be one.
 */
export function areShownDifferent(a: Actor, b: Actor): boolean {
  const isSameIssuer = a.knownBy === b.knownBy && a.issuer === b.issuer
  if (!isPerson(a) || !isSameIssuer || b.sub === undefined) return false
  const [names, subjects] = [
    [a.name, b.name],
    [a.sub, b.sub],
  ]
  return [names, subjects].every(([one = '', other = '']) => lowerAscii(one) !== lowerAscii(other))
}

/** Returns whether somebody is known by a subject that is one person's. */
export function isPerson({ knownBy, sub }: Actor): boolean {
  return namespaces[knownBy].isPerson && sub !== undefined
}

/** Returns whether a name is written as that of another namespace, in any letter case. */
function isReserved(name: string): boolean {
  const lower = lowerAscii(name)
  return Object.values(namespaces).some(
    ({ prefix }) => lower === prefix || (prefix.endsWith(':') && lower.startsWith(prefix)),
  )
}

/** Returns whether a text can be a name: it is shown, logged and compared. */
function isName(text: string): boolean {
  return text.length <= identityLimits.name && /^[^\s\p{C}](?:[^\p{C}]*[^\s\p{C}])?$/u.test(text)
}

/** Describes somebody in a few words: `ada@example.com`, `the job repo:team/cdn`. */
export function describeIdentity({ name, knownBy, sub = name }: Actor): string {
  switch (knownBy) {
    case 'token':
      return 'a holder of the token'
    case 'unidentified':
      return 'somebody unidentified'
    case 'ci':
      return `the CI job ${sub}`
    case 'database':
      return `the database role ${sub}`
    case 'serve':
      return `edgewise serve (${name})`
    default:
      return name
  }
}
