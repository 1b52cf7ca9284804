import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { open } from '../../src/index.ts'

const remote = 'https://api.example.net'
let folder: string
let calls: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-local-'))
  mkdirSync(join(folder, 'checkout', '.git'), { recursive: true })
  writeFileSync(join(folder, 'checkout', '.git', 'HEAD'), '')
  calls = []
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Writes a workspace in a folder of the checkout, and applies its one manifest. */
async function apply(
  given: { path?: string; url?: string; ci?: string; allowLocal?: boolean } = {},
) {
  const { path = '.edgewise/state', url = remote, ci = 'true', allowLocal = false } = given
  const root = join(folder, 'checkout', 'cdn')
  mkdirSync(join(root, 'domains'), { recursive: true })
  writeFileSync(
    join(root, 'edgewise.yaml'),
    JSON.stringify({ version: 1, service: { url }, state: { store: 'dir', path, allowLocal } }),
  )
  writeFileSync(
    join(root, 'domains', 'a.yaml'),
    'domain: a.example.com\nconfig: {timeout: {time: 60}}\n',
  )
  const workspace = open(root, {
    outside: {
      env: { EDGEWISE_TOKEN: 'token', ...(ci === '' ? {} : { CI: ci }) },
      transport: async (request) => {
        calls.push(request.url)
        return { status: 200, body: '{"code": 0}', header: () => null }
      },
    },
  })
  return workspace.apply({}).then(
    ({ status }) => status,
    (error: { code: string; message: string }) => [error.code, error.message],
  )
}

describe('state in a folder of the checkout of a CI job', () => {
  it.each(['true', '1', 'woodpecker'])(
    'is refused with CI=%s, before anything is sent',
    async (ci) => {
      expect(await apply({ ci })).toEqual([
        'local-state',
        expect.stringContaining('.edgewise/state'),
      ])
      expect(calls).toEqual([])
    },
  )

  it('is allowed by the key', async () => {
    expect(await apply({ allowLocal: true })).toBe('done')
    expect(calls).toHaveLength(1)
  })

  it.each(['', 'false', '0'])('is allowed with CI=%j', async (ci) => {
    expect(await apply({ ci })).toBe('done')
  })

  it.each(['http://127.0.0.1:9', 'http://localhost:9'])('is allowed for %s', async (url) => {
    expect(await apply({ url })).toBe('done')
  })

  it('is refused elsewhere in the checkout, and through a link into it', async () => {
    const refused = ['local-state', expect.any(String)]
    expect(await apply({ path: '../state' })).toEqual(refused)
    symlinkSync(join(folder, 'checkout'), join(folder, 'link'))
    expect(await apply({ path: join(folder, 'link', 'state') })).toEqual(refused)
  })

  it('is allowed outside of the checkout, also through a link there', async () => {
    expect(await apply({ path: '../../state' })).toBe('done')
    mkdirSync(join(folder, 'volume'))
    symlinkSync(join(folder, 'volume'), join(folder, 'link'))
    expect(await apply({ path: '../../link/state' })).toBe('done')
  })

  it('is refused through a link of the checkout, which a commit can bring', async () => {
    mkdirSync(join(folder, 'volume'))
    symlinkSync(join(folder, 'volume'), join(folder, 'checkout', 'volume'))
    expect(await apply({ path: '../volume/state' })).toEqual([
      'usage',
      expect.stringContaining(`${join(folder, 'checkout', 'volume')} is a symbolic link`),
    ])
    expect(readdirSync(join(folder, 'volume'))).toEqual([])
  })

  it('is refused with a link anywhere in its folder', async () => {
    const options = { allowLocal: true }
    expect(await apply(options)).toBe('done')
    mkdirSync(join(folder, 'elsewhere'))
    const domains = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) =>
      /state\/.*\/domains$/.test(path),
    )
    symlinkSync(join(folder, 'elsewhere'), join(folder, domains ?? '', 'zz'))
    expect(await apply(options)).toEqual(['usage', expect.stringContaining('/domains/zz is a')])
  })
})
