import { tokenHolder, type Identity } from '../../core/model/people/identity.ts'
import { areEqual } from '../http/verify-webhook.ts'

/** Length of a session, s. */
export const sessionSeconds = 12 * 60 * 60
/**
 * Length of a session of somebody whom a provider named, s: then the provider is asked again, who
 * may have changed the groups, or closed the account. And time that a login may take, s.
 */
const [personSeconds, loginSeconds] = [15 * 60, 10 * 60]
/** Longest description of a person in a cookie, bytes: browsers drop longer cookies. */
const maxPersonBytes = 2000

/** What the cookies of a server have in common. */
interface Cookies {
  /** Name of the cookie of a session. */
  name: string
  sign(purpose: string, text: string): string
  format(
    cookie: string,
    value: string,
    maxAge: number,
    isSecure: boolean,
    site?: 'Strict' | 'Lax',
  ): string
}

/** Creates the cookies of people whom a provider names: of their sessions, and of their logins. */
export function createPersonCookies({ name, sign, format }: Cookies) {
  const loginName = `${name}_login`
  const seal = (purpose: string, text: string, expires: string): string => {
    const payload = Buffer.from(text).toString('base64url')
    return `${expires}.${payload}.${sign(purpose, `${expires}.${payload}`)}`
  }
  /** Opens what was sealed for a purpose; null if it was not, or has ended. */
  const open = (purpose: string, value: string, nowMs: number): string | null => {
    const [, expires = '', payload = '', signature = ''] =
      /^(\d{1,12})\.([\w-]{1,4000})\.([\w-]{43})$/.exec(value) ?? []
    const isSigned = areEqual(signature, sign(purpose, `${expires}.${payload}`))
    if (!isSigned || Number(expires) * 1000 <= nowMs) return null
    return Buffer.from(payload, 'base64url').toString()
  }
  return {
    /** Returns whether a value is that of a valid session of a person. */
    isPerson: (value: string, nowMs: number): boolean => open('person', value, nowMs) !== null,
    /** Formats the cookie of a new session of a person. */
    beginPerson: (person: Identity, nowMs: number, isSecure: boolean): string => {
      const expires = String(Math.floor(nowMs / 1000) + personSeconds)
      // The browser keeps it longer: who had a session is sent to the provider again.
      return format(name, seal('person', encodePerson(person), expires), sessionSeconds, isSecure)
    },
    /** Returns who has a valid session: whoever had the token, without a person. */
    identify: (session: string): Identity => {
      const text = open('person', session, 0)
      return text === null ? tokenHolder : decodePerson(text)
    },
    /** Reports whether a browser has a cookie of a person, also one that has ended. */
    holdsPerson: (cookies: string): boolean =>
      listCookies(cookies, name).some((value) => open('person', value, 0) !== null),
    /** Reports whether a browser had a session of a person that has ended by itself. */
    hadPerson: (cookies: string, nowMs: number): boolean =>
      listCookies(cookies, name).some(
        (value) =>
          open('person', value, nowMs) === null &&
          open('person', value, nowMs - sessionSeconds * 1000) !== null,
      ),
    /** Formats the cookie of a login that begins: it comes back with the answer of the provider. */
    keepLogin: (text: string, nowMs: number, isSecure: boolean): string => {
      const expires = String(Math.floor(nowMs / 1000) + loginSeconds)
      return format(loginName, seal('login', text, expires), loginSeconds, isSecure, 'Lax')
    },
    /** Finds what was kept for a login; null if there is none. */
    findLogin: (cookies: string, nowMs: number): string | null =>
      listCookies(cookies, loginName)
        .map((value) => open('login', value, nowMs))
        .find((text) => text !== null) ?? null,
    /** Formats a cookie that removes that of a login. */
    dropLogin: (isSecure: boolean): string => format(loginName, '', 0, isSecure, 'Lax'),
    /** Builds the token of the forms of somebody whom a proxy names in each request. */
    buildProxyToken: (user: string): string => sign('proxy form', user),
  }
}

/** Writes a person as text; groups that do not fit are left out. */
function encodePerson({ name, knownBy, groups, email }: Identity): string {
  const kept: string[] = []
  const write = () => JSON.stringify([name, knownBy, email, ...kept])
  for (const group of groups) {
    kept.push(group)
    if (Buffer.byteLength(write()) > maxPersonBytes) {
      kept.pop()
      break
    }
  }
  return write()
}

/** Reads a person from a text that this server has signed. */
function decodePerson(text: string): Identity {
  const [name, knownBy, email, ...groups] = JSON.parse(text) as [
    string,
    Identity['knownBy'],
    string | null,
    ...string[],
  ]
  return { name, knownBy, groups, email }
}

/** Lists the values of a cookie: a browser sends several if hosts above have set some, too. */
export function listCookies(header: string, name: string): string[] {
  return header.split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.split('=')
    return key.trim() === name ? [value.join('=').trim()] : []
  })
}
