import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { simpleGit } from 'simple-git'

/** Scans the remains of a program for secrets in all encoded forms. */
export class Canaries {
  readonly #forms: { secret: string; form: string; needle: string }[]
  /** One line for each form of each secret in each place, with the preceding text. */
  readonly found: string[] = []

  /** @param secrets values by name; the name is used in messages */
  constructor(secrets: Record<string, string>) {
    this.#forms = Object.entries(secrets).flatMap(([secret, value]) =>
      listNeedles(value).map(([form, needle]) => ({ secret, form, needle })),
    )
  }

  /** Scans a text, in any letter case. */
  scanText(where: string, data: string | Buffer): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    const text = bytes.toString('latin1').toLowerCase()
    for (const { secret, form, needle } of this.#forms) {
      const start = text.indexOf(needle)
      if (start === -1) continue
      this.found.push(
        `${secret} (${form}) in ${where} after ${text.slice(Math.max(0, start - 60), start)}`,
      )
    }
  }

  /** Scans every file below a folder, and its name. */
  scanTree(folder: string, skipped: string[] = []): void {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const name = relative(folder, path)
      if (skipped.some((skip) => name === skip || name.startsWith(`${skip}/`))) continue
      this.scanText(`the name ${name}`, name)
      if (entry.isFile()) this.scanText(`the file ${name}`, readFileSync(path))
    }
  }

  /** Scans every object of a repository, including unreachable ones. */
  async scanObjects(repository: string, env: Record<string, string>): Promise<void> {
    const all = await simpleGit({
      baseDir: repository,
      allowEnvironment: Object.keys(env),
      unsafe: { allowUnsafeConfigEnvCount: true, allowUnsafeConfigPaths: true },
    })
      .env(env)
      .binaryCatFile(['--batch-all-objects', '--batch'])
    this.scanText(`an object of ${repository}`, all)
  }
}

/** Minimum length of the start or the end of a secret that must not be found either. */
const partLength = 8

/**
 * Lists the texts to look for, in lower case: the start and the end of a value, in every encoding.
 * A text that contains another one is left out.
 */
function listNeedles(value: string): [form: string, needle: string][] {
  const parts = [value, value.slice(0, partLength), value.slice(-partLength)]
  const forms = parts
    .flatMap((part) => encodeForms(part))
    .map(([form, text]): [string, string] => [
      form,
      Buffer.from(text).toString('latin1').toLowerCase(),
    ])
  const needles = new Map(forms.toReversed().map(([form, needle]) => [needle, form]))
  return [...needles].flatMap(([needle, form]) =>
    [...needles.keys()].some((other) => other !== needle && needle.includes(other))
      ? []
      : [[form, needle]],
  )
}

/** Lists the forms of a text: plain, escaped, encoded, taken apart. Letter case does not count. */
export function encodeForms(value: string): [form: string, text: string][] {
  const bytes = Buffer.from(value)
  const chars = Array.from(value)
  const escapeAll = (escape: (code: number) => string) =>
    chars.map((char) => escape(char.codePointAt(0) ?? 0)).join('')
  const json = JSON.stringify(value).slice(1, -1)
  const url = encodeURIComponent(value)
  const hex = bytes.toString('hex')
  return [
    ['plain', value],
    ['JSON', json],
    ['JSON in JSON', JSON.stringify(json).slice(1, -1)],
    ['URL', url],
    ['form', new URLSearchParams({ value }).toString().slice('value='.length)],
    ['URL twice', encodeURIComponent(url)],
    ['every byte percent-encoded', hex.replace(/../g, '%$&')],
    ['every byte percent-encoded twice', hex.replace(/../g, '%25$&')],
    ['HTML', value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')],
    ['decimal references', escapeAll((code) => `&#${code};`)],
    ['hex references', escapeAll((code) => `&#x${code.toString(16)};`)],
    ['Unicode escapes', escapeAll((code) => `\\u${code.toString(16).padStart(4, '0')}`)],
    ['hex', hex],
    ['spaced', chars.join(' ')],
    ['without line breaks', value.replaceAll('\n', '')],
    ...[0, 1, 2].flatMap((shift): [string, string][] => [
      ['base64', withinBase64(bytes, shift)],
      ['base64url', withinBase64(bytes, shift).replaceAll('+', '-').replaceAll('/', '_')],
    ]),
  ]
}

/**
 * Encodes bytes that start `shift` bytes into a group of three, without the characters that depend
 * on their neighbours.
 */
function withinBase64(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const own = text.slice([0, 2, 3][shift])
  return (shift + bytes.length) % 3 === 0 ? own : own.slice(0, -1)
}
