import type { FormToken } from '../../outlets/report/page/format-rollout.ts'
import { tokenHolder, type Identity } from '../../core/model/people/identity.ts'
import { areEqual } from '../http/verify-webhook.ts'
import { createSeals, listCookies } from './seals.ts'

/** Length of a session, and time in which the result of a decision is shown, s. */
const [sessionSeconds, noticeSeconds] = [12 * 60 * 60, 60]
/**
 * Length of a session of somebody whom a provider named, s: then the provider is asked again, who
 * may have changed the groups, or closed the account. And time that a login may take, s.
 */
const [personSeconds, loginSeconds] = [15 * 60, 10 * 60]
/** Longest description of a person in a cookie, bytes: browsers drop longer cookies. */
const maxPersonBytes = 2000

/** Sessions of browsers, and what their cookies keep beside. */
export type Sessions = ReturnType<typeof createSessions>

/** A request of somebody who may see the pages. */
export interface Visit {
  sessions: Sessions
  /** What forms have to carry; null for a client with the token itself. */
  formToken: FormToken
  cookies: string
  identity: Identity
}

/**
 * Creates the sessions of a token that is not empty. Over https, their cookies have names that a
 * browser takes over https from this host alone, and no others count.
 */
export function createSessions(token: string, isSecure: boolean) {
  const { sign, seal, open } = createSeals(token)
  // Servers of one host share its cookies, whatever their ports are.
  const name = `${isSecure ? '__Host-' : ''}edgewise_${sign('name', '').slice(0, 8)}`
  const [noticeName, loginName] = [`${name}_notice`, `${name}_login`]
  const format = (cookie: string, value: string, maxAge: number, site = 'Strict'): string =>
    `${cookie}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=${site}` +
    (isSecure ? '; Secure' : '')
  const find = (cookie: string, purpose: string, cookies: string, nowMs: number) =>
    listCookies(cookies, cookie).find((value) => open(purpose, value, nowMs) !== null) ?? null
  const findOpen = (cookie: string, purpose: string, cookies: string, nowMs: number) =>
    open(purpose, find(cookie, purpose, cookies, nowMs) ?? '', nowMs)
  return {
    /** Returns whether a text is the token. */
    isToken: (text: string): boolean => areEqual(text, token),
    /** Formats the cookie of a new session of who has the token. */
    begin: (nowMs: number): string =>
      format(name, seal('session', '', nowMs, sessionSeconds), sessionSeconds),
    /** Formats the cookie of a new session of a person. */
    beginPerson: (person: Identity, nowMs: number): string =>
      // The browser keeps it longer: who had a session is sent to the provider again.
      format(name, seal('person', encodePerson(person), nowMs, personSeconds), sessionSeconds),
    /** Formats a cookie that removes the one of a session from the browser. */
    end: (): string => format(name, '', 0),
    /** Finds the valid session of a request; null if there is none. */
    find: (cookies: string, nowMs: number): string | null =>
      find(name, 'session', cookies, nowMs) ?? find(name, 'person', cookies, nowMs),
    /** Returns who has a valid session: whoever had the token, without a person. */
    identify: (session: string): Identity => {
      const text = open('person', session, 0)
      // This server has sealed it.
      return text === null ? tokenHolder : (JSON.parse(text) as Identity)
    },
    /** Reports whether a browser has a session of a person, also one that ended before a while. */
    hadPerson: (cookies: string, nowMs = 0): boolean =>
      find(name, 'person', cookies, nowMs - sessionSeconds * 1000) !== null,
    /** Builds the token that the forms of a session carry. */
    buildFormToken: (session: string): string => sign('form', session),
    /** Builds the token of the forms of somebody whom a proxy names in each request. */
    buildProxyToken: (user: string): string => sign('proxy form', user),
    /** Formats the cookie of a login that begins: it comes back with the answer of the provider. */
    keepLogin: (text: string, nowMs: number): string =>
      format(loginName, seal('login', text, nowMs, loginSeconds), loginSeconds, 'Lax'),
    /** Finds what was kept for a login; null if there is none. */
    findLogin: (cookies: string, nowMs: number) => findOpen(loginName, 'login', cookies, nowMs),
    /** Formats a cookie that removes that of a login. */
    dropLogin: (): string => format(loginName, '', 0, 'Lax'),
    /** Formats the cookie with a notice that the next page shows once. */
    keepNotice: (text: string, nowMs: number): string =>
      format(noticeName, seal('notice', text.slice(0, 600), nowMs, noticeSeconds), noticeSeconds),
    /** Returns the notice of a request; null if there is none of this server. */
    findNotice: (cookies: string, nowMs: number) => findOpen(noticeName, 'notice', cookies, nowMs),
    /** Formats a cookie that removes a notice. */
    dropNotice: (): string => format(noticeName, '', 0),
  }
}

/** Writes a person as text; groups that do not fit are left out. */
function encodePerson(person: Identity): string {
  const text = JSON.stringify(person)
  const { groups } = person
  const isLong = Buffer.byteLength(text) > maxPersonBytes && groups.length > 0
  return isLong ? encodePerson({ ...person, groups: groups.slice(0, -1) }) : text
}
