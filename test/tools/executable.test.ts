// @module-tag often
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { bin, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  bin: { edgewise: string }
  version: string
}

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'edgewise-executable-'))))
afterEach(() => rmSync(folder, { recursive: true }))

it('the built program is executable by everybody', () => {
  expect(statSync(join(root, bin.edgewise)).mode & 0o777).toBe(0o755)
})

it('the package has it executable', () => {
  const args = ['pack', '--dry-run', '--ignore-scripts', '--json']
  const out = execFileSync('npm', args, { cwd: root, encoding: 'utf8' })
  const [packed] = JSON.parse(out) as [{ files: { path: string; mode: number }[] }]
  const program = packed.files.find(({ path }) => path === bin.edgewise)
  expect(program?.mode).toBe(0o755)
})

it('the entry point of the image starts it', () => {
  const image = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const [, path = '', name = ''] = /^RUN ln -s \/opt\/edgewise\/(\S+) (\S+)$/m.exec(image) ?? []
  expect([path, dirname(name)]).toEqual([bin.edgewise, '/usr/local/bin'])
  const entry = /^ENTRYPOINT \["(\w+)"\]$/m.exec(image)?.[1] ?? ''
  symlinkSync(join(root, path), join(folder, entry))
  const env = { PATH: `${folder}:${dirname(process.execPath)}` }
  expect(execFileSync(entry, ['--version'], { env, encoding: 'utf8' })).toBe(`${version}\n`)
})
