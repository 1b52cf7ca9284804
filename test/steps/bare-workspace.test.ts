// @module-tag often
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { GitSandbox } from '../state/git-sandbox.ts'
import { Place } from './cli.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
let sandbox: GitSandbox
beforeEach(() => {
  sandbox = new GitSandbox()
})
afterEach(() => sandbox.remove())

/** Writes a workspace that git takes for a bare repository, whose settings start a program. */
async function writeHostile(mark: string): Promise<Place> {
  await sandbox.repository('top')
  const root = join(sandbox.folder, 'top', 'cdn')
  for (const name of ['objects', 'refs']) mkdirSync(join(root, name), { recursive: true })
  writeFileSync(join(root, 'HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(
    join(root, 'config'),
    `[core]\n\tbare = true\n\tsshCommand = touch ${mark} #\n\tfsmonitor = touch ${mark} #\n` +
      `[remote "origin"]\n\turl = ssh://git.invalid/cdn\n`,
  )
  return new Place('emulator', '', { root, state: '' }).manifest('a.example.com', {
    timeout: { time: 60 },
  })
}

async function run(place: Place, args: string[]): Promise<{ code: number; text: string }> {
  const env = { ...sandbox.env, EDGEWISE_TOKEN: 'the-token-of-it' }
  const child = spawn(process.execPath, [program, '-C', place.root, ...args], { env })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += String(chunk)))
  const [code] = (await once(child, 'close')) as [number]
  return { code, text: text.replace(/\s+/g, ' ') }
}

it('a workspace that looks like a bare repository starts none of its programs', async () => {
  const mark = join(sandbox.folder, 'ran')
  const place = await writeHostile(mark)
  const lines = [
    ['plan'],
    ['apply', '--yes'],
    ['drift'],
    ['state', 'list'],
    ['rollout', 'list'],
    ['rollback', '--yes'],
    ['init', '--ci', 'github', '--action', `a/b@${'1'.repeat(40)}`],
    ['serve'],
  ]
  const results = await Promise.all(lines.map((line) => run(place, line)))
  for (const [i, { code, text }] of results.entries()) {
    expect({ line: lines[i], code }).toEqual({ line: lines[i], code: 1 })
    expect(text).toContain('looks like a bare git repository')
  }
  expect((await run(place, ['validate'])).code).toBe(0)
  expect(existsSync(mark)).toBe(false)
})
