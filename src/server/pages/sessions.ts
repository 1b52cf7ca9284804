import { createHmac } from 'node:crypto'
import type { FormToken } from '../../outlets/report/page/format-rollout.ts'
import type { Identity } from '../../core/model/people/identity.ts'
import { createPersonCookies, listCookies, sessionSeconds } from './person-cookies.ts'
import { areEqual } from '../http/verify-webhook.ts'

/** Time in which the result of a decision is shown, s. */
const noticeSeconds = 60
/**
 * Sessions of browsers. A cookie is signed with a key derived from the token of the server: every
 * replica accepts it, nothing is stored, and another token ends all sessions.
 */
export type Sessions = ReturnType<typeof createSessions>

/** A request of somebody who may see the pages. */
export interface Visit {
  sessions: Sessions
  /** What forms have to carry; null for a client with the token itself. */
  formToken: FormToken
  isSecure: boolean
  cookies: string
  identity: Identity
}

/** Creates the sessions of a token that is not empty. */
export function createSessions(token: string) {
  const key = createHmac('sha256', token).update('edgewise sessions/1').digest()
  const sign = (purpose: string, text: string): string =>
    createHmac('sha256', key).update(`${purpose}\0${text}`).digest('base64url')
  // Servers of one host share its cookies, whatever their ports are.
  const name = `edgewise_${sign('name', '').slice(0, 8)}`
  const noticeName = `${name}_notice`
  const format = (
    cookie: string,
    value: string,
    maxAge: number,
    isSecure: boolean,
    site: 'Strict' | 'Lax' = 'Strict',
  ): string =>
    `${cookie}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=${site}` +
    (isSecure ? '; Secure' : '')
  const persons = createPersonCookies({ name, sign, format })
  const isValid = (value: string, nowMs: number): boolean => {
    const [, expires, signature] = /^(\d{1,12})\.([\w-]{43})$/.exec(value) ?? []
    if (expires === undefined || signature === undefined) return persons.isPerson(value, nowMs)
    return areEqual(signature, sign('session', expires)) && Number(expires) * 1000 > nowMs
  }
  return {
    /** Returns whether a text is the token. */
    isToken: (text: string): boolean => areEqual(text, token),
    /** Formats the cookie of a new session. */
    begin: (nowMs: number, isSecure: boolean): string => {
      const expires = String(Math.floor(nowMs / 1000) + sessionSeconds)
      return format(name, `${expires}.${sign('session', expires)}`, sessionSeconds, isSecure)
    },
    ...persons,
    /** Formats a cookie that removes the one of a session from the browser. */
    end: (isSecure: boolean): string => format(name, '', 0, isSecure),
    /** Finds the valid session of a request; null if there is none. */
    find: (cookies: string, nowMs: number): string | null =>
      listCookies(cookies, name).find((value) => isValid(value, nowMs)) ?? null,
    /** Builds the token that the forms of a session carry. */
    buildFormToken: (session: string): string => sign('form', session),
    /** Formats the cookie with a notice that the next page shows once. */
    keepNotice: (text: string, isSecure: boolean): string => {
      const value = Buffer.from(text.slice(0, 600)).toString('base64url')
      return format(noticeName, `${value}.${sign('notice', value)}`, noticeSeconds, isSecure)
    },
    /** Returns the notice of a request; null if there is none of this server. */
    findNotice: (cookies: string): string | null => {
      for (const cookie of listCookies(cookies, noticeName)) {
        const [value = '', signature = ''] = cookie.split('.')
        if (areEqual(signature, sign('notice', value)))
          return Buffer.from(value, 'base64url').toString()
      }
      return null
    },
    /** Formats a cookie that removes a notice. */
    dropNotice: (isSecure: boolean): string => format(noticeName, '', 0, isSecure),
  }
}
