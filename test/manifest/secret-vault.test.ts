import { markForeign } from '../../src/core/model/text/text-makers.ts'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simpleGit } from 'simple-git'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSecretSources, type SecretReach } from '../../src/manifest/secrets/secret-sources.ts'
import { SecretVault } from '../../src/manifest/secrets/secret-vault.ts'
import { buildGitEnvironment } from '../../src/state/git/git-environment.ts'
import { createCommitTest } from '../../src/state/git/open-place.ts'
import { itLong } from '../runs.ts'

const values: Record<string, string> = { signing: 'signing-value-1', token: 'token-value-2' }
const vault = (id = 'default') => new SecretVault(id, (name) => values[name] ?? null)

describe('fingerprints', () => {
  it('are equal for equal values, and differ for other values and other ids', () => {
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

  it('stay the same when a literal becomes a reference', () => {
    expect(vault().maskLiteral('signing-value-1')).toEqual(
      vault().maskTemplate('${secret:signing}'),
    )
  })

  it('name the unavailable secrets', () => {
    const own = vault()
    expect(own.maskTemplate('${secret:gone}')).toEqual({ $secret: 'unresolved:gone' })
    expect(own.maskTemplate('Bearer ${secret:gone} ${secret:token}')).toEqual({
      $secret: 'unresolved:Bearer ${secret:gone} ${secret:token}',
    })
    expect(own.listUnresolved()).toEqual(['gone'])
    expect(() => own.reveal({ key: { $secret: 'unresolved:gone' } })).toThrow(
      'the secret gone is not available',
    )
  })
})

describe('values sent to and returned by the service', () => {
  it('reveals secrets, and recognizes them in the answer', () => {
    const own = vault()
    const payload = [
      { head_name: 'Authorization', head_value: { ...own.maskTemplate('Bearer ${secret:token}') } },
    ]
    expect(own.reveal(payload)).toEqual([
      { head_name: 'Authorization', head_value: 'Bearer token-value-2' },
    ])
    expect(own.mask('add_back_source_head', own.reveal(payload), [], 'foreign')).toEqual(payload)
    expect(own.listTemplates(payload)).toEqual({
      [payload[0]?.head_value.$secret ?? '']: 'Bearer ${secret:token}',
    })
  })

  it('masks secret fields, and known secrets inside other texts', () => {
    const own = vault()
    own.maskTemplate('${secret:token}')
    const back = own.mask(
      'visit_timestamp',
      { key: 'changed by the service', pattern: '.*' },
      [],
      'foreign',
    )
    expect(back).toMatchObject({
      key: { $secret: expect.stringMatching(/^scrypt:[0-9a-f]{32}$/) as string },
      pattern: '.*',
    })
    expect(
      JSON.stringify(own.mask('extend', { squid: 'auth token-value-2 all' }, [], 'foreign')),
    ).not.toContain('token-value-2')
    expect(own.mask('extend', { squid: 'nothing to hide' }, [], 'foreign')).toEqual({
      squid: 'nothing to hide',
    })
  })

  it('masks every spelling, also in unknown field names', () => {
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
      expect(own.scrub(markForeign(`a ${text} z`))).toMatch(/^a .{0,8}\(secret\).{0,4} z$/)
      expect(JSON.stringify(own.mask('extend', { squid: `a ${text}` }, [], 'foreign'))).toMatch(
        /scrypt:/,
      )
    }
    expect(own.mask('extend', { squid: 'x', [`was ${value}`]: 1 }, [], 'foreign')).toEqual({
      squid: 'x',
      'was (secret)': 1,
    })
  })

  it('hides values that no manifest refers to, if they are long enough', () => {
    const own = vault()
    own.hide('the-token-itself', '(token)')
    own.hide('x', '(token)')
    expect(own.scrub(markForeign('x the-token-itself x'))).toBe('x (token) x')
  })

  it('scrubs the whole word around a secret, whose rest would betray it', () => {
    const own = vault()
    own.hide('test', '(token)')
    expect(own.scrub(markForeign('the latest test of (tests), not attested: tes t'))).toBe(
      'the (token) (token) of ((token)), not (token): tes t',
    )
    expect(own.scrub(markForeign('latesttest, übertestet'), new Set(['latest']))).toBe(
      '(token), (token)',
    )
    expect(own.scrub(markForeign('the latest'), new Set(['latest']))).toBe('the latest')
  })

  it('scrubs messages', () => {
    const own = vault()
    own.maskTemplate('Bearer ${secret:token}')
    expect(
      own.scrub(markForeign('bad header "Bearer token-value-2" and token-value-2')),
    ).not.toContain('token-value-2')
  })
})

describe('sources', () => {
  let root: string
  beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'edgewise-secrets-'))))
  afterEach(() => rmSync(root, { recursive: true, force: true }))
  type Source = Parameters<typeof createSecretSources>[1][string]
  const withheld = { token: 'the-token', variables: [], passwords: [] }
  const sources = (source: Source, reach: SecretReach, env = {}) =>
    createSecretSources(root, { s: source }, env, withheld, {
      reach,
      isCommitted: createCommitTest(root, buildGitEnvironment(process.env, '')),
      locate: (pointer) => `at ${pointer}`,
    })
  const lookUp = (source: Source, reach: SecretReach, env = {}) =>
    sources(source, reach, env).lookUp('s')
  const { signal } = new AbortController()
  const runCommand = (...command: string[]) => sources({ command }, 'available').run('s', signal)

  itLong('return values of variables, and run commands on demand', async () => {
    expect(lookUp({ env: 'S' }, 'none', { S: 'x' })).toBeNull()
    expect(lookUp({ env: 'S' }, 'available', { S: 'x' })).toBe('x')
    expect(lookUp({ env: 'S' }, 'available', {})).toBeNull()
    expect(sources({ env: 'S' }, 'available').explain('s')).toBe(
      'the environment variable S is not set (at /secrets/s/env)',
    )
    const empty = sources({ env: 'S' }, 'available', { S: '' })
    expect([empty.lookUp('s'), empty.explain('s')]).toEqual([
      null,
      'the environment variable S is empty (at /secrets/s/env)',
    ])
    expect(empty.explain('other')).toBe('edgewise.yaml defines no source of it')
    expect(lookUp({ command: ['printf', 'v\n'] }, 'available')).toBeNull()
    expect(await runCommand('printf', 'v\n')).toBe('v')
    await expect(runCommand('false')).rejects.toThrow(
      'secret s: the command "false" failed (exit 1) (at /secrets/s/command); no write',
    )
    await expect(runCommand('true')).rejects.toThrow('the command "true" printed nothing')
    await expect(runCommand('no-such-program')).rejects.toThrow('failed (ENOENT)')
    await expect(runCommand('sh', '-c', 'kill -9 $$')).rejects.toThrow('failed (SIGKILL)')
    await expect(runCommand('head', '-c', '2000000', '/dev/zero')).rejects.toThrow(
      'more than 1024 KiB',
    )
  })

  it('stop a command after a minute, also if what it has started lives on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const program = 'exec 2> /dev/null; sleep 8 & echo > started; sleep 8'
      const running = runCommand('sh', '-c', program)
      const refused = expect(running).rejects.toThrow('failed (no answer within 60 s)')
      while (!existsSync(join(root, 'started'))) await new Promise(setImmediate)
      const start = performance.now()
      await vi.advanceTimersByTimeAsync(60_000)
      await refused
      expect(performance.now() - start).toBeLessThan(7000)
    } finally {
      vi.useRealTimers()
    }
  })

  it('refuse what is no text', async () => {
    await expect(runCommand('printf', String.raw`\377`)).rejects.toThrow('printed no text')
  })

  it('stop a command on interrupt', async () => {
    const interrupt = new AbortController()
    const running = sources({ command: ['sleep', '60'] }, 'available').run('s', interrupt.signal)
    interrupt.abort()
    await expect(running).rejects.toThrow('was interrupted')
    const again = sources({ command: ['sleep', '60'] }, 'available').run('s', interrupt.signal)
    await expect(again).rejects.toThrow('was not run')
  })

  itLong('require that a file in a checkout is ignored by git', async () => {
    await simpleGit(root).init()
    const monitor = join(root, 'monitor')
    writeFileSync(monitor, `#!/bin/sh\n: > ${root}/ran\n`, { mode: 0o755 })
    appendFileSync(join(root, '.git/config'), `[core]\n\tfsmonitor = ${monitor}\n`)
    mkdirSync(join(root, 'secrets'))
    writeFileSync(join(root, 'secrets', 's'), 'from a file\n')
    expect(() => lookUp({ file: 'secrets/s' }, 'available')).toThrow(
      'secret s: the file secrets/s is in the checkout and git does not ignore it ' +
        '(at /secrets/s/file)',
    )
    writeFileSync(join(root, '.gitignore'), 'secrets/\n')
    expect(lookUp({ file: 'secrets/s' }, 'available')).toBe('from a file')
    expect(lookUp({ file: 'secrets/none' }, 'available')).toBeNull()
    expect(existsSync(join(root, 'ran'))).toBe(false)
    const none = sources({ file: 'secrets/none' }, 'available')
    expect(none.explain('s')).toBe(
      "the file secrets/none can't be read: it does not exist (or is a broken link) " +
        '(at /secrets/s/file)',
    )
  })
})
