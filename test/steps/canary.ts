import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { simpleGit } from 'simple-git'

/**
 * Looks for secrets in whatever a program left behind, in all the forms that a program may have
 * given them.
 */
export class Canaries {
  readonly #forms: { secret: string; form: string; bytes: Buffer }[]
  /** One line for each form of each secret in each place, with what stands before it. */
  readonly found: string[] = []

  /** @param secrets values by a name for messages */
  constructor(secrets: Record<string, string>) {
    this.#forms = Object.entries(secrets).flatMap(([secret, value]) =>
      formsOf(value).map(([form, scanText]) => ({ secret, form, bytes: Buffer.from(scanText) })),
    )
  }

  scanText(where: string, data: string | Buffer): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    for (const { secret, form, bytes: wanted } of this.#forms) {
      const at = bytes.indexOf(wanted)
      if (at !== -1)
        this.found.push(
          `${secret} (${form}) in ${where} after ${bytes.subarray(Math.max(0, at - 60), at).toString()}`,
        )
    }
  }

  /** Every file below a folder, and its name. */
  scanTree(folder: string, skipped: string[] = []): void {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const name = relative(folder, path)
      if (skipped.some((skip) => name === skip || name.startsWith(`${skip}/`))) continue
      this.scanText(`the name ${name}`, name)
      if (entry.isFile()) this.scanText(`the file ${name}`, readFileSync(path))
    }
  }

  /** Every object of a repository, whether anything still refers to it or not. */
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

/** The forms in which a value may stand somewhere: as it is, escaped, encoded. */
function formsOf(value: string): [form: string, text: string][] {
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
 * What base64 makes of bytes that begin `shift` bytes into a group of three, as far as its
 * neighbours have no say in it.
 */
function withinBase64(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const own = text.slice([0, 2, 3][shift])
  return (shift + bytes.length) % 3 === 0 ? own : own.slice(0, -1)
}
