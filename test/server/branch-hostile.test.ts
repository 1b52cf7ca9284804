// @module-tag often
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { parseAddress, parseFolder, checkBranchName } from '../../src/server/http/address.ts'
import { connect } from '../remotes.ts'
import { findFailure, it, type Followed } from './followed.ts'

const names =
  'main a/b release-1.x ü a@b @{ a@{1} -x --all HEAD @ a..b .a a/.b a.lock a.lock/b ' +
  'a/ /a a//b a. a~1 a^ a:b a? a* a[b a\\b {a}'
const unprintable = ['', 'a b', 'a\tb', 'a\nb', 'a\u0000b', 'a\u007fb']

describe('hostile input', () => {
  it('a name of a branch is valid if git takes it as one', () => {
    const isValid = (name: string) => {
      try {
        checkBranchName(name)
        return true
      } catch (error) {
        expect(error).toMatchObject({ code: 'usage' })
        return false
      }
    }
    const isValidForGit = (name: string) => {
      const { status, stdout } = spawnSync('git', ['check-ref-format', '--branch', name])
      return status === 0 && stdout.toString() === `${name}\n`
    }
    const all = [...names.split(' '), ...unprintable.filter((name) => !name.includes('\0'))]
    expect(all.filter(isValid)).toEqual(all.filter(isValidForGit))
    expect(unprintable.filter(isValid)).toEqual([])
  })

  it.for([
    '',
    '--upload-pack=touch /tmp/x',
    'ext::sh -c touch% x',
    'fd::7',
    'foo://example.com/x',
    'https://u:p/w@example.com:x/y',
    'ssh://-oProxyCommand=touch/x',
    'ssh://-oProxyCommand@example.com/x',
    '-oProxyCommand=x:y',
    'git@-oProxyCommand=x:y',
    'https://example.com/a\nb',
    'https://example.com/a b',
  ])('the address "%s" is refused and not printed', (text) => {
    const parse = () => parseAddress(text, '/srv')
    expect(parse).toThrow(/^the address of the repository /)
    if (text !== '') expect(parse).not.toThrow(text)
  })

  it.for([
    ['https://u:p@example.com/x.git', 'https://example.com/x.git'],
    ['ssh://git@example.com:22/x', 'ssh://example.com:22/x'],
    ['git@example.com:x/y.git', 'git@example.com:x/y.git'],
    ['git@[::1]:x', 'git@[::1]:x'],
    ['../x', '/x'],
    ['./a:b', '/srv/a:b'],
    ['/srv/x.git', '/srv/x.git'],
  ])('the address "%s" is accepted', ([text, location]) => {
    expect(parseAddress(text ?? '', '/srv').location).toBe(location)
  })

  it('a folder is within the repository', () => {
    expect(['', '.', 'a', './a//b/', 'a..b'].map(parseFolder)).toEqual(['', '', 'a', 'a/b', 'a..b'])
    for (const folder of ['..', 'a/../..', '/etc', '.git', 'a/.GIT', 'a\\..', 'a\nb'])
      expect(() => parseFolder(folder)).toThrow('not a path within the repository')
  })

  it('the names of branches that a remote lists do not reach the terminal', async ({
    followed,
  }) => {
    await followed.push({}, 'refs/heads/\u202eevil')
    const { hint = '' } = await findFailure(followed.open({ branch: 'other' }))
    expect(hint).toContain('\\u{202e}evil')
    expect(hint).not.toContain('\u202e')
  })
})

describe('a checkout', () => {
  it('has exactly the files of the commit', async ({ followed }) => {
    const clone = (name: string) => followed.path('clone', name)
    const evil = followed.path('evil')
    mkdirSync(clone('sub'))
    writeFileSync(clone('run'), '#!/bin/sh\n')
    chmodSync(clone('run'), 0o755)
    symlinkSync('run', clone('link'))
    const files = {
      'crlf.yaml': 'a: 1\r\nb: 2\r\n',
      'sub/lf.yaml': 'a: $Id$\n',
      'bin.yaml': '\0\r\n',
    }
    await followed.push(files)
    // Files that are committed already stay as they are.
    const text = '* text=auto eol=crlf ident filter=evil\n*.yaml working-tree-encoding=UTF-16\n'
    writeFileSync(clone('.gitattributes'), text)
    await followed.git('add', '.gitattributes')
    await followed.git('commit', '--quiet', '-m', 'attributes')
    await followed.git('push', '--quiet', 'origin', 'HEAD')
    const settings = [
      '[core]\n\tautocrlf = true\n\teol = crlf\n\tsymlinks = false\n\tfileMode = false',
      `\thooksPath = ${followed.path('hooks')}\n\tfsmonitor = touch ${evil}`,
      `\tattributesFile = ${followed.path('attributes')}`,
      `[filter "evil"]\n\tsmudge = touch ${evil}; cat\n\tclean = touch ${evil}; cat`,
      '\trequired = true',
      `[init]\n\ttemplateDir = ${followed.path('template')}\n[submodule]\n\trecurse = true\n`,
    ]
    const hook = `#!/bin/sh\ntouch ${evil}\n`
    for (const folder of ['hooks', 'template', 'template/hooks']) mkdirSync(followed.path(folder))
    for (const name of ['post-checkout', 'reference-transaction', 'post-index-change'])
      for (const folder of ['hooks', 'template/hooks'])
        writeFileSync(followed.path(folder, name), hook, { mode: 0o755 })
    writeFileSync(followed.path('attributes'), '* filter=evil\n')
    writeFileSync(followed.path('user'), settings.join('\n'))
    const branch = await followed.open({}, { GIT_CONFIG_GLOBAL: followed.path('user') })
    const commit = await branch.fetch()
    const folder = await branch.checkOut(commit)
    await branch.keepOnly([commit])
    for (const [name, content] of Object.entries(files))
      expect(readFileSync(join(folder, name), 'utf8')).toBe(content)
    expect(readlinkSync(join(folder, 'link'))).toBe('run')
    expect(lstatSync(join(folder, 'run')).mode & 0o111).not.toBe(0)
    expect(lstatSync(join(folder, 'crlf.yaml')).mode & 0o111).toBe(0)
    expect(existsSync(evil)).toBe(false)
  })

  it('has no submodules', async ({ followed }) => {
    const id = await followed.git('rev-parse', 'HEAD')
    await followed.git('update-index', '--add', '--cacheinfo', `160000,${id},module`)
    const modules = `[submodule "module"]\n\tpath = module\n\turl = ${followed.remote}\n`
    writeFileSync(followed.path('clone', '.gitmodules'), modules)
    await followed.git('add', '.gitmodules')
    await followed.git('commit', '--quiet', '-m', 'module')
    await followed.git('push', '--quiet', 'origin', 'HEAD')
    const branch = await followed.open()
    const folder = await branch.checkOut(await branch.fetch())
    expect(readdirSync(join(folder, 'module'))).toEqual([])
  })
})

/** Commits folders of ten entries each, the last of which are files with this text; pushes them. */
function pushRepeated(followed: Followed, levels: number, text: string): Promise<string> {
  const run = (args: string[], input: string) =>
    execFileSync('git', args, { cwd: followed.path('clone'), env: followed.sandbox.env, input })
      .toString()
      .trim()
  let entry = `100644 blob ${run(['hash-object', '-w', '--stdin'], text)}`
  for (let level = 0; level < levels; level++) {
    const entries = Array.from({ length: 10 }, (_, i) => `${entry}\t${i}\n`)
    entry = `040000 tree ${run(['mktree'], entries.join(''))}`
  }
  const [, , tree = ''] = entry.split(' ')
  return followed
    .git('commit-tree', tree, '-m', 'repeated')
    .then((commit) => followed.git('push', '--quiet', '--force', 'origin', `${commit}:main`))
}

describe('a commit of a few kilobytes', () => {
  it.for([
    ['a billion files', 9, ''],
    ['100 GB of files', 5, '\n'.repeat(1024 ** 2)],
  ] as const)('with %s is refused', async ([, levels, text], { followed }) => {
    await pushRepeated(followed, levels, text)
    const branch = await followed.open()
    const commit = await branch.fetch()
    expect(await findFailure(branch.checkOut(commit))).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('more than 10 GB, or their list has more than 64 MB'),
    })
  })
})

describe('a remote', () => {
  it('over http with a password is cloned, and the password is nowhere', async ({ followed }) => {
    const remote = await connect(followed.sandbox, 'http')
    const [password = ''] = remote.secrets
    const repository = `http://runner:${password}@${remote.address}/remote.git`
    const env = { GIT_CONFIG_GLOBAL: '/dev/null' }
    try {
      const branch = await followed.open({ repository }, env)
      await branch.checkOut(await branch.fetch())
      expect(branch.location).toBe(`http://${remote.address}/remote.git`)
      await followed.push({ 'a.yaml': '' })
      remote.behaviour = 'refuse-login'
      const failure = await findFailure(branch.fetch())
      expect(failure).toMatchObject({ code: 'unavailable' })
      expect(failure['hint']).toContain('credential helper')
      expect(JSON.stringify(failure)).not.toContain(password)
      const found = spawnSync('grep', ['-r', password, followed.data])
      expect([found.status, found.stdout.toString()]).toEqual([1, ''])
    } finally {
      await remote.close()
    }
  })

  it('that hangs is given up, and asked again at the next call', async ({ followed }) => {
    const remote = await connect(followed.sandbox, 'http')
    const never = 60_000
    const limits = { silenceMs: never, totalMs: never, interruptedMs: never, reportMs: never }
    let passedMs = 0
    const timerNow = () => performance.now() + passedMs
    try {
      const repository = `http://runner@${remote.address}/remote.git`
      const branch = await followed.open({ repository, limits, timerNow })
      const first = await branch.fetch()
      remote.behaviour = 'hang'
      limits.silenceMs = 1000
      const hung = await findFailure(branch.fetch())
      expect(hung).toMatchObject({ code: 'unavailable' })
      expect(hung['message']).toContain('has not answered')
      expect(hung['hint']).toContain('git ls-remote')
      remote.behaviour = 'serve'
      limits.silenceMs = never
      passedMs = 10 * never
      expect(await branch.fetch()).toBe(first)
    } finally {
      await remote.close()
    }
  })

  it('that hangs is given up at an interrupt', async ({ followed }) => {
    const controller = new AbortController()
    const server = createServer(() => controller.abort())
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const repository = `http://127.0.0.1:${port}/x`
    const opened = followed.open({ repository, signal: controller.signal })
    const failure = await findFailure(opened)
    server.close()
    expect(failure).toMatchObject({ code: 'unavailable', message: 'git was ended by an interrupt' })
    expect(
      readdirSync(followed.data).flatMap((name) => readdirSync(followed.path('data', name))),
    ).toEqual([])
  })

  it('that does not exist is named', async ({ followed }) => {
    const repository = followed.path('nothing')
    const failure = await findFailure(followed.open({ repository }))
    expect(failure).toMatchObject({ code: 'unavailable' })
    expect(failure['message']).toContain(repository)
    expect(failure['hint']).toContain('Check the network and the address')
  })

  it('with ids of SHA-256 is followed', async ({ followed }) => {
    const { sandbox } = followed
    await sandbox.git('.', 'init', '--quiet', '--object-format=sha256', 'long')
    writeFileSync(followed.path('long', 'edgewise.yaml'), '')
    await sandbox.git('long', 'add', '.')
    await sandbox.git('long', 'commit', '--quiet', '-m', 'first')
    const branch = await followed.open({ repository: './long' })
    const commit = await branch.fetch()
    expect(commit).toMatch(/^[0-9a-f]{64}$/)
    expect(await branch.checkOut(commit)).toContain(commit)
  })
})
