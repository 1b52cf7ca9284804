import type { IncomingMessage } from 'node:http'
import { refuse, type Answer } from './answer.ts'

/** Refuses other methods than one; HEAD is allowed where GET is. */
export function allow(
  { method }: Pick<IncomingMessage, 'method'>,
  allowed: 'GET' | 'POST',
): Answer | null {
  if (method === allowed || (method === 'HEAD' && allowed === 'GET')) return null
  const methods = allowed === 'GET' ? 'GET, HEAD' : allowed
  return refuse(405, 'usage', `the method must be ${methods}`, { headers: { Allow: methods } })
}
