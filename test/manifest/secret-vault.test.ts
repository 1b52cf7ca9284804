import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simpleGit } from 'simple-git'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSecretSources, type SecretReach } from '../../src/manifest/secret-sources.ts'
import { SecretVault } from '../../src/manifest/secret-vault.ts'

const values: Record<string, string> = { signing: 'signing-value-1', token: 'token-value-2' }
const vault = (id = 'default') => new SecretVault(id, (name) => values[name] ?? null)

describe('fingerprints', () => {
  it('are the same for the same value, and different for another value or another id', () => {
    expect(vault().maskTemplate('${secret:signing}')).toEqual(
      vault().maskTemplate('${secret:signing}'),
    )
    expect(vault().maskTemplate('${secret:signing}')).not.toEqual(
      vault().maskTemplate('${secret:token}'),
    )
    expect(vault().maskTemplate('${secret:signing}')).not.toEqual(
      vault('staging').maskTemplate('${secret:signing}'),
    )
    expect(vault().maskTemplate('Bearer ${secret:token}')).not.toEqual(
      vault().maskTemplate('Basic ${secret:token}'),
    )
    expect(JSON.stringify(vault().maskTemplate('Bearer ${secret:token}'))).not.toContain('Bearer')
  })

  it('do not change when a value that was written out becomes a reference', () => {
    expect(vault().maskLiteral('signing-value-1')).toEqual(
      vault().maskTemplate('${secret:signing}'),
    )
  })

  it('name what is not at hand', () => {
    const own = vault()
    expect(own.maskTemplate('${secret:gone}')).toEqual({ $secret: 'unresolved:gone' })
    expect(own.maskTemplate('Bearer ${secret:gone} ${secret:token}')).toEqual({
      $secret: 'unresolved:Bearer ${secret:gone} ${secret:token}',
    })
    expect(own.listUnresolved()).toEqual(['gone'])
    expect(() => own.reveal({ key: { $secret: 'unresolved:gone' } })).toThrow(
      'the secret gone is not at hand',
    )
  })
})

describe('what goes to the service and comes back', () => {
  it('is revealed whole, and known again wherever it stands', () => {
    const own = vault()
    const payload = [
      { head_name: 'Authorization', head_value: { ...own.maskTemplate('Bearer ${secret:token}') } },
    ]
    expect(own.reveal(payload)).toEqual([
      { head_name: 'Authorization', head_value: 'Bearer token-value-2' },
    ])
    expect(own.mask('add_back_source_head', own.reveal(payload))).toEqual(payload)
    expect(own.listTemplates(payload)).toEqual({
      [payload[0]?.head_value.$secret ?? '']: 'Bearer ${secret:token}',
    })
  })

  it('is masked where a field always holds a secret, and where a known one stands inside', () => {
    const own = vault()
    own.maskTemplate('${secret:token}')
    const back = own.mask('visit_timestamp', { key: 'what the service made of it', pattern: '.*' })
    expect(back).toMatchObject({
      key: { $secret: expect.stringMatching(/^scrypt:[0-9a-f]{32}$/) as string },
      pattern: '.*',
    })
    expect(JSON.stringify(own.mask('extend', { squid: 'auth token-value-2 all' }))).not.toContain(
      'token-value-2',
    )
    expect(own.mask('extend', { squid: 'nothing to hide' })).toEqual({ squid: 'nothing to hide' })
  })

  it('is masked in every spelling, and in names of fields that the item does not have', () => {
    const own = new SecretVault('default', () => 'sec"ret/+& ü')
    own.maskTemplate('${secret:a}')
    const value = 'sec"ret/+& ü'
    const spellings = [
      value,
      JSON.stringify(value),
      JSON.stringify(JSON.stringify(value)),
      encodeURIComponent(value),
      new URLSearchParams({ value }).toString(),
      encodeURIComponent(value).toLowerCase(),
      ...['', 'x', 'xy'].map((before) => Buffer.from(before + value).toString('base64')),
      Buffer.from(value).toString('base64url'),
    ]
    for (const text of spellings) {
      expect(own.scrub(`a ${text} z`)).toMatch(/^a .{0,8}\(secret\).{0,4} z$/)
      expect(JSON.stringify(own.mask('extend', { squid: `a ${text}` }))).toMatch(/scrypt:/)
    }
    expect(own.mask('extend', { squid: 'x', [`was ${value}`]: 1 })).toEqual({
      squid: 'x',
      'was (secret)': 1,
    })
  })

  it('hides what no manifest refers to as well, if it is long enough to be found without doubt', () => {
    const own = vault()
    own.hide('the-token-itself')
    own.hide('x')
    expect(own.scrub('x the-token-itself x')).toBe('x (secret) x')
  })

  it('is taken out of messages', () => {
    const own = vault()
    own.maskTemplate('Bearer ${secret:token}')
    expect(own.scrub('bad header "Bearer token-value-2" and token-value-2')).not.toContain(
      'token-value-2',
    )
  })
})

describe('sources', () => {
  let root: string
  beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'edgewise-secrets-'))))
  afterEach(() => rmSync(root, { recursive: true, force: true }))
  type Source = Parameters<typeof createSecretSources>[1][string]
  const sources = (source: Source, reach: SecretReach, env = {}) =>
    createSecretSources(root, { s: source }, env, 'the-token', reach)
  const look = (source: Source, reach: SecretReach, env = {}) =>
    sources(source, reach, env).lookUp('s')
  const { signal } = new AbortController()
  const ran = (...command: string[]) => sources({ command }, 'at hand').run('s', signal)

  it('are asked as far as a command may', async () => {
    expect(look({ env: 'S' }, 'none', { S: 'x' })).toBeNull()
    expect(look({ env: 'S' }, 'at hand', { S: 'x' })).toBe('x')
    expect(look({ env: 'S' }, 'at hand', {})).toBeNull()
    expect(sources({ env: 'S' }, 'at hand').explain('s')).toBe('the variable S is not set')
    expect(look({ command: ['printf', 'v\n'] }, 'at hand')).toBeNull()
    expect(await ran('printf', 'v\n')).toBe('v')
    await expect(ran('false')).rejects.toThrow('the command "false" failed (exit 1)')
    await expect(ran('true')).rejects.toThrow('the command "true" gave nothing')
    await expect(ran('no-such-program')).rejects.toThrow('failed (ENOENT)')
    await expect(ran('sh', '-c', 'kill -9 $$')).rejects.toThrow('failed (SIGKILL)')
    await expect(ran('head', '-c', '2000000', '/dev/zero')).rejects.toThrow('more than 1024 KiB')
  })

  it('a command ends with an interrupt', async () => {
    const interrupt = new AbortController()
    const running = sources({ command: ['sleep', '60'] }, 'at hand').run('s', interrupt.signal)
    interrupt.abort()
    await expect(running).rejects.toThrow('was interrupted')
    const again = sources({ command: ['sleep', '60'] }, 'at hand').run('s', interrupt.signal)
    await expect(again).rejects.toThrow('was not run')
  })

  it('a file in a checkout has to be ignored by git', async () => {
    await simpleGit(root).init()
    const monitor = join(root, 'monitor')
    writeFileSync(monitor, `#!/bin/sh\n: > ${root}/ran\n`, { mode: 0o755 })
    appendFileSync(join(root, '.git/config'), `[core]\n\tfsmonitor = ${monitor}\n`)
    mkdirSync(join(root, 'secrets'))
    writeFileSync(join(root, 'secrets', 's'), 'from a file\n')
    expect(() => look({ file: 'secrets/s' }, 'at hand')).toThrow('git does not ignore it')
    writeFileSync(join(root, '.gitignore'), 'secrets/\n')
    expect(look({ file: 'secrets/s' }, 'at hand')).toBe('from a file')
    expect(look({ file: 'secrets/none' }, 'at hand')).toBeNull()
    expect(existsSync(join(root, 'ran'))).toBe(false)
    const none = sources({ file: 'secrets/none' }, 'at hand')
    expect(none.explain('s')).toBe("the file secrets/none can't be read (ENOENT)")
  })
})
