/**
 * Demonstrates a full cycle on a scratch copy of `examples/storefront`: validate, test, plan, apply
 * to the emulator, change one manifest, plan and apply again, and a final empty plan. Needs no
 * network and leaves nothing behind.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const example = fileURLToPath(new URL('../examples/storefront', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'edgewise-quickstart-'))
const changed = join('domains', 'web', 'asia.yaml')
const env = {
  ...process.env,
  STOREFRONT_SIGNING_KEY: 'quickstart-signing-key',
  STOREFRONT_ORIGIN_TOKEN: 'quickstart-origin-token',
}

try {
  cpSync(example, scratch, { recursive: true, filter: (path) => !path.includes('.edgewise') })
  printHeading('Validate 27 domains of a shop platform, in one manifest each or one for several')
  runEdgewise('validate')
  printHeading('Test what the manifests do to requests, without any call')
  runEdgewise('test')
  printHeading('Show the changes and the number of writes')
  runEdgewise('plan')
  printHeading('Apply them: the service is the emulator, inside the process')
  runEdgewise('apply', '--yes', '--quiet')
  printHeading(`Change one manifest: ${changed}`)
  replaceInFile(changed, 'origin_connect_timeout: 20', 'origin_connect_timeout: 30')
  runEdgewise('plan')
  runEdgewise('apply', '--yes', '--quiet')
  printHeading('Plan again: no changes left')
  runEdgewise('plan')
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function printHeading(text: string): void {
  console.log(`\n# ${text}`)
}

function runEdgewise(...args: string[]): void {
  console.log(`$ edgewise ${args.join(' ')}`)
  execFileSync(process.execPath, [program, ...args], {
    cwd: scratch,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

function replaceInFile(path: string, from: string, to: string): void {
  const file = join(scratch, path)
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`expected "${from}" in examples/storefront/${path}`)
  writeFileSync(file, text.replace(from, to))
}
