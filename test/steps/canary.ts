import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { simpleGit } from 'simple-git'

/** Scans the remains of a program for secrets in all encoded forms. */
export class Canaries {
  readonly #forms: { secret: string; form: string; bytes: Buffer }[]
  /** One line for each form of each secret in each place, with the preceding text. */
  readonly found: string[] = []

  /** @param secrets values by name; the name is used in messages */
  constructor(secrets: Record<string, string>) {
    this.#forms = Object.entries(secrets).flatMap(([secret, value]) =>
      encodeForms(value).map(([form, scanText]) => ({
        secret,
        form,
        bytes: Buffer.from(scanText),
      })),
    )
  }

  scanText(where: string, data: string | Buffer): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    for (const { secret, form, bytes: wanted } of this.#forms) {
      const start = bytes.indexOf(wanted)
      if (start === -1) continue
      const context = bytes.subarray(Math.max(0, start - 60), start).toString()
      this.found.push(`${secret} (${form}) in ${where} after ${context}`)
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

/** Lists the forms of a value: plain, escaped, encoded. */
function encodeForms(value: string): [form: string, text: string][] {
  const bytes = Buffer.from(value)
  const json = JSON.stringify(value).slice(1, -1)
  return [
    ['plain', value],
    ['JSON', json],
    ['JSON in JSON', JSON.stringify(json).slice(1, -1)],
    ['URL', encodeURIComponent(value)],
    ['form', new URLSearchParams({ value }).toString().slice('value='.length)],
    ['HTML', value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')],
    ['hex', bytes.toString('hex')],
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
