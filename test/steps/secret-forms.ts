import type { Json } from '../../src/core/model/json.ts'

const halve = (text: string) => [
  text.slice(0, Math.ceil(text.length / 2)),
  text.slice(Math.ceil(text.length / 2)),
]
const flip = (char: string) =>
  char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()

/** Forms in which a service may return a text that it was sent. */
export const returnedForms: Record<string, (text: string) => Json> = {
  'as a number': (text) => (/^\d+$/.test(text) ? Number(text) : text),
  'in upper case': (text) => text.toUpperCase(),
  'in flipped case': (text) => Array.from(text, flip).join(''),
  'with HTML entities': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;'),
  'with XML references': (text) =>
    Array.from(text, (char) => `&#x${char.codePointAt(0)?.toString(16)};`).join(''),
  cut: (text) => text.slice(0, 10),
  masked: (text) => `${text.slice(0, 8)}****${text.slice(-2)}`,
  'in hex': (text) => Buffer.from(text).toString('hex'),
  'with blanks': (text) => Array.from(text).join(' '),
  'doubly encoded': (text) => encodeURIComponent(encodeURIComponent(text)),
  split: (text) => ({ first: halve(text)[0] ?? '', second: halve(text)[1] ?? '' }),
  'as a list': halve,
  'in base64': (text) => Buffer.from(text).toString('base64'),
}
