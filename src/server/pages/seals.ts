import { createHmac } from 'node:crypto'
import { areEqual } from '../http/verify-webhook.ts'

/**
 * Creates what seals texts for some time, with a key derived from the token of the server: every
 * replica opens them, nothing is stored, and another token ends all of them.
 */
export function createSeals(token: string) {
  const key = createHmac('sha256', token).update('edgewise sessions/2').digest()
  const sign = (purpose: string, text: string): string =>
    createHmac('sha256', key).update(`${purpose}\0${text}`).digest('base64url')
  return {
    sign,
    seal: (purpose: string, text: string, nowMs: number, seconds: number): string => {
      const payload = Buffer.from(text).toString('base64url')
      const sealed = `${Math.floor(nowMs / 1000) + seconds}.${payload}`
      return `${sealed}.${sign(purpose, sealed)}`
    },
    /** Opens what was sealed for a purpose; null if it was not, or has ended. */
    open: (purpose: string, value: string, nowMs: number): string | null => {
      const [, sealed = '', expires = '', payload = '', signature = ''] =
        /^((\d{1,12})\.([\w-]{0,4000}))\.([\w-]{43})$/.exec(value) ?? []
      const isOpen = areEqual(signature, sign(purpose, sealed)) && Number(expires) * 1000 > nowMs
      return isOpen ? Buffer.from(payload, 'base64url').toString() : null
    },
  }
}

/** Lists the values of a cookie: a browser sends several if hosts above have set some, too. */
export function listCookies(header: string, name: string): string[] {
  return header.split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.split('=')
    return key.trim() === name ? [value.join('=').trim()] : []
  })
}
