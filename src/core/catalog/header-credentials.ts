import { formatPointerStep, isObject, type Json } from '../model/json.ts'

/** A header in an item whose value looks like a credential. */
export interface HeaderCredential {
  /** JSON pointer of the value. */
  pointer: string
  header: string
}

/** Fields with the name and the value of a header. */
const headerFields = [
  ['name', 'value'],
  ['head_name', 'head_value'],
  ['head', 'value'],
] as const

/** A scheme of authorization with its token; no challenge such as `Basic realm="files"`. */
const scheme = String.raw`(?:bearer|basic|token|apikey)[ \t]+[\w+/.~-]{6,}={0,2}(?![\w="])`
/** JSON web tokens, and keys that have the prefix of their vendor. */
const prefixed = [
  String.raw`eyJ[\w-]{8,}\.[\w.-]+`,
  'AKIA[0-9A-Z]{16}',
  String.raw`gh[pousr]_\w{20,}`,
  String.raw`[sr]k_live_\w{10,}`,
  String.raw`xox[abprs]-[\w-]{10,}`,
].join('|')
const isScheme = new RegExp(`^\\s*${scheme}\\s*$`, 'i')
const isPrefixed = new RegExp(`(?<![\\w-])(?:${prefixed})`)
const anyForm = new RegExp(`(?<![\\w-])(?:${scheme}|${prefixed})`, 'gi')
/** Names of headers with a credential of any form. */
const credentialName = /^(?:proxy-)?authorization$/i
/** Names of headers that may have a credential: its value is then one word with a digit. */
const words =
  'api-?key|access-?key|auth|token|secret|password|passwd|session|signature|credentials?'
const likelyName = new RegExp(`(?:^|[-_])(?:${words})(?:$|[-_])`, 'i')
const likelyValue = /^(?=\D*\d)[\w+/=.~-]{8,}$/

/** Finds the headers of a value that have a literal credential. References are no texts. */
export function findHeaderCredentials(value: Json, pointer = ''): HeaderCredential[] {
  if (Array.isArray(value))
    return value.flatMap((each, i) => findHeaderCredentials(each, pointer + formatPointerStep(i)))
  if (!isObject(value)) return []
  const found = headerFields.flatMap(([nameField, valueField]) => {
    const [header, text] = [value[nameField], value[valueField]]
    const isCredential =
      typeof header === 'string' && typeof text === 'string' && looksLikeCredential(header, text)
    return isCredential ? [{ pointer: `${pointer}/${valueField}`, header }] : []
  })
  const inner = Object.entries(value).flatMap(([name, field]) =>
    typeof field === 'object'
      ? findHeaderCredentials(field, pointer + formatPointerStep(name))
      : [],
  )
  return [...found, ...inner]
}

function looksLikeCredential(header: string, text: string): boolean {
  // A variable of the service, such as $http_authorization.
  if (text.trim() === '' || /^\$\w+$/.test(text)) return false
  if (credentialName.test(header) || isScheme.test(text) || isPrefixed.test(text)) return true
  return likelyName.test(header) && likelyValue.test(text)
}

/** A word that may be a key. */
const longWord = /[\w+/=.~-]{16,}/g
/** Longest text between a key of YAML and its value. */
const maxGap = 40

/** Tests whether a place in a line of YAML is the begin of the value of a header. */
function isHeaderValue(line: string, at: number): boolean {
  const dropQuote = (text: string) => (/["']$/.test(text) ? text.slice(0, -1) : text).trimEnd()
  const before = dropQuote(line.slice(Math.max(0, at - maxGap), at).trimEnd())
  return before.endsWith(':') && dropQuote(before.slice(0, -1)).endsWith('value')
}

/** Masks the credentials in a line that are known by their form, or by their field. */
export function maskCredentials(line: string): string {
  const mask = (found: string) => found.replaceAll(/\S/g, '*')
  return line
    .replace(anyForm, mask)
    .replace(longWord, (word, at: number) =>
      /\d/.test(word) && isHeaderValue(line, at) ? mask(word) : word,
    )
}
