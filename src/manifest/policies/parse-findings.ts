import { didYouMean } from '../../core/catalog/value/nearest.ts'
import { isObject, parseJson, type Json } from '../../core/model/json.ts'

/** A violation that a program has found. */
export interface ProgramFinding {
  message: string
  domain?: string
  item?: string
  pointer?: string
}

const format = 'edgewise.findings/1'
/** Maximum number of findings, and maximum length of a message. */
const max = 1000
const keys = ['message', 'domain', 'item', 'pointer']

/**
 * Parses what a program printed (`schemas/findings.schema.json`), or explains in a clause why it
 * can't be used.
 */
export function parseFindings(text: string): ProgramFinding[] | { fault: string } {
  const value = parseJson(text)
  if (!isObject(value)) return { fault: 'it printed no JSON object' }
  const { format: found, findings, ...others } = value
  const [other] = Object.keys(others)
  if (found !== format) return { fault: `it printed no {"format": "${format}", "findings": […]}` }
  if (other !== undefined) return { fault: `it printed the unknown key "${other.slice(0, 80)}"` }
  if (!Array.isArray(findings) || findings.length > max)
    return { fault: `it printed no list of at most ${max} "findings"` }
  for (const [i, each] of findings.entries()) {
    const fault = findFault(each)
    if (fault !== null) return { fault: `it printed a bad finding at /findings/${i}: ${fault}` }
  }
  return findings as unknown as ProgramFinding[]
}

function findFault(finding: Json): string | null {
  if (!isObject(finding)) return 'expected a mapping with "message"'
  const { message = '', pointer = '' } = finding
  const unknown = Object.keys(finding).find((key) => !keys.includes(key))
  const mistyped = Object.keys(finding).find((key) => typeof finding[key] !== 'string')
  if (unknown !== undefined)
    return `there is no key "${unknown.slice(0, 80)}".${didYouMean(unknown, keys)}`
  if (mistyped !== undefined) return `"${mistyped}" is no text`
  if (message === '' || String(message).length > max)
    return `expected a "message" of 1 to ${max} characters`
  return /^(\/|$)/.test(String(pointer)) ? null : '"pointer" is no JSON pointer, such as /list/0'
}
