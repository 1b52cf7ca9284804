/** How it is known who decides. */
export type KnownBy = 'oidc' | 'proxy' | 'ci' | 'database' | 'token' | 'unidentified'

/** Who does something, for the history; `serve`: the controller of itself. */
export interface Actor {
  name: string
  knownBy: KnownBy | 'serve'
}

/** Somebody who asks for something: a person, a job, or a holder of the token. */
export interface Identity {
  /** Unique among all sources; `roles` names it under `users`. */
  name: string
  knownBy: KnownBy
  groups: string[]
  /** Proven e-mail address, in lower case; null without one. */
  email: string | null
}

/** Prefixes of names that are no person's, so that no provider can give one of them. */
const prefixes = { ci: 'ci:', database: 'database:' } as const
/** Maximum length of a name and of a group, and maximum number of groups. */
export const identityLimits = { name: 256, groups: 200 }

/** Everybody with the token of `edgewise serve`. */
export const tokenHolder: Identity = nameMachine('token')
/** Somebody of whom nothing is known but what the own machine says. */
export const unidentified: Identity = nameMachine('unidentified')

function nameMachine(name: 'token' | 'unidentified'): Identity {
  return { name, knownBy: name, groups: [], email: null }
}

/** Identifies a job of CI by its subject, or a user of PostgreSQL by its role. */
export function identifyMachine(knownBy: 'ci' | 'database', name: string): Identity | null {
  return isName(name) ? { name: prefixes[knownBy] + name, knownBy, groups: [], email: null } : null
}

/**
 * Identifies a person; null if the name is not usable. Names of machines are refused, since roles
 * could give them rights.
 *
 * @param groups those that are no text of a usable length are left out
 */
export function identifyPerson(
  knownBy: 'oidc' | 'proxy',
  name: string,
  groups: unknown,
  email: string | null,
): Identity | null {
  const isMachine =
    ['token', 'unidentified'].includes(name.toLowerCase()) ||
    Object.values(prefixes).some((prefix) => name.toLowerCase().startsWith(prefix))
  if (isMachine || !isName(name)) return null
  const listed = Array.isArray(groups) ? groups : typeof groups === 'string' ? [groups] : []
  const usable = listed.filter((group) => typeof group === 'string' && isName(group))
  return {
    name: normalizeUser(name),
    knownBy,
    groups: [...new Set<string>(usable)].slice(0, identityLimits.groups),
    email: email?.toLowerCase() ?? null,
  }
}

/**
 * Normalizes the name of a user as roles and providers write it: letter case of e-mail addresses
 * does not count, that of other names does.
 */
export function normalizeUser(name: string): string {
  return /^[^\s:@]+@[^\s:@]+$/.test(name) ? name.toLowerCase() : name
}

/** Returns whether a text can be a name: it is shown, logged and compared. */
function isName(text: string): boolean {
  return text.length <= identityLimits.name && /^[^\s\p{C}](?:[^\p{C}]*[^\s\p{C}])?$/u.test(text)
}

/** Describes somebody in a few words: `ada@example.com`, `the job repo:team/cdn`. */
export function describeIdentity({ name, knownBy }: Actor): string {
  switch (knownBy) {
    case 'token':
      return 'a holder of the token'
    case 'unidentified':
      return 'somebody unidentified'
    case 'ci':
      return `the CI job ${name.slice(prefixes.ci.length)}`
    case 'database':
      return `the database role ${name.slice(prefixes.database.length)}`
    default:
      return name
  }
}
