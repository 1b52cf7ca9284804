import type { IncomingMessage } from 'node:http'
import { drain } from '../drain.ts'

/** Longest body of a form, bytes. */
export const maxFormBytes = 16 * 1024

/**
 * Reads the fields of a form. Returns null if the body is too long or ended early, and if it is no
 * form or has a field twice.
 */
export async function readForm(incoming: IncomingMessage): Promise<Map<string, string> | null> {
  const type = (incoming.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return null
  const chunks: Uint8Array[] = []
  const isWhole = await drain(incoming, maxFormBytes, (chunk) => void chunks.push(chunk))
  if (!isWhole) return null
  const pairs = [...new URLSearchParams(Buffer.concat(chunks).toString())]
  const fields = new Map(pairs)
  return fields.size === pairs.length ? fields : null
}
