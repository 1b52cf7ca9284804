// @module-tag often
// @module-tag nightly
import {
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect } from 'vitest'
import { findHeadCommit } from '../../src/state/git/open-git.ts'
import { findSourceTree, relateCommits } from '../../src/state/git/source-tree.ts'
import { buildMachine, findFailure, it, workspace } from './followed.ts'

const unknown = 'f'.repeat(40)

describe('a followed branch', () => {
  it('has the files of the commit at its tip, and then of the next', async ({ followed }) => {
    const branch = await followed.open()
    const first = await branch.fetch()
    const folder = await branch.checkOut(first)
    expect(readFileSync(join(folder, 'edgewise.yaml'), 'utf8')).toBe(workspace)
    const next = await followed.push({ 'domains/a.yaml': 'a: 1\n' })
    expect(await branch.fetch()).toBe(next)
    expect(readFileSync(join(await branch.checkOut(next), 'domains/a.yaml'), 'utf8')).toBe('a: 1\n')
    expect(readdirSync(folder)).not.toContain('domains')
    expect(await branch.checkOut(first)).toBe(folder)
  })

  it('is that of HEAD, or a named one', async ({ followed }) => {
    const main = await followed.git('rev-parse', 'HEAD')
    const other = await followed.push({ 'a.yaml': '' }, 'refs/heads/rollout/eu')
    const branch = await followed.open()
    expect([branch.name, await branch.fetch()]).toEqual(['main', main])
    const named = await followed.open({ branch: 'rollout/eu' })
    expect([named.name, await named.fetch()]).toEqual(['rollout/eu', other])
  })

  it('is the commit that plans name as their basis', async ({ followed }) => {
    const branch = await followed.open()
    const commit = await branch.fetch()
    const folder = await branch.checkOut(commit)
    expect(await findHeadCommit(folder, followed.sandbox.env)).toBe(commit)
  })

  it('knows its tree, and how earlier and later commits are related to it', async ({
    followed,
  }) => {
    const branch = await followed.open()
    const first = await branch.fetch()
    await followed.push({ 'a.yaml': 'a' })
    const second = await branch.fetch()
    const [older, newer] = [await branch.checkOut(first), await branch.checkOut(second)]
    const { env } = followed.sandbox
    const paths = ['edgewise.yaml']
    expect((await branch.listHistory(second, 9)).slice(0, 2)).toEqual([second, first])
    const files = { root: newer, paths, isSource: () => true }
    expect(await findSourceTree(files, env, (text) => text)).toMatchObject({ commit: second })
    expect(await relateCommits(newer, [first, second, unknown], env)).toEqual(
      new Map([
        [first, 'contained'],
        [second, 'contained'],
        [unknown, 'apart'],
      ]),
    )
    expect((await relateCommits(older, [second], env)).get(second)).toBe('later')
  })

  it('lists who wrote the commits after another one, but not who merged', async ({ followed }) => {
    const branch = await followed.open()
    const first = await branch.fetch()
    const write = (email: string, ...message: string[]) =>
      followed.git(
        '-c',
        `user.email=${email}`,
        'commit',
        '--quiet',
        '--allow-empty',
        ...message.flatMap((text) => ['--message', text]),
      )
    await write('Ada@Example.com', 'One', 'Co-authored-by: Bob <BOB@example.com>')
    await followed.git('checkout', '--quiet', '-b', 'topic')
    // A mail map of the commit changes no address.
    const second = await followed.push({ '.mailmap': 'x <eve@example.com> <ada@example.com>\n' })
    await write('carl@example.com', 'Two')
    await followed.git('checkout', '--quiet', '-')
    const merging = ['-c', 'user.email=merger@example.com', 'merge', '--quiet', '--no-ff']
    await followed.git(...merging, '--message', 'Merge', 'topic')
    const last = await followed.push({ 'z.yaml': '' })
    const find = async (after: (string | null)[], commit: string) => {
      const found = await branch.findAuthors(after, commit)
      return typeof found === 'string' ? found : [...found]
    }
    const authors = await find([first], last)
    expect(authors).toEqual(
      expect.arrayContaining(['ada@example.com', 'bob@example.com', 'carl@example.com']),
    )
    expect(authors).not.toContain('merger@example.com')
    expect(authors).not.toContain('eve@example.com')
    expect(await find([second], second)).toEqual([])
    // Values of several commits: since the first of them, whatever their order.
    expect(await find([second, first, last], last)).toEqual(authors)
    expect(await find([second], last)).not.toContain('ada@example.com')
    // Of no commit, or one that is not here or not before: since the beginning.
    const all = await find([null], last)
    expect(all).toEqual(expect.arrayContaining(authors as string[]))
    for (const after of [[], [second, null], ['f'.repeat(40)], ['--all'], [second, 'f'.repeat(40)]])
      expect(await find(after, last)).toEqual(all)
    expect(await find([last], second)).toEqual([])
  })

  it('knows no author of a commit without an address, and folds no letter but A to Z', async ({
    followed,
  }) => {
    const branch = await followed.open()
    const first = await branch.fetch()
    const write = async (email: string, text: string) => {
      const author = `X <${email}>`
      await followed.git(
        'commit',
        '--quiet',
        '--allow-empty',
        '--author',
        author,
        '--message',
        text,
      )
      return followed.push({ 'z.yaml': text })
    }
    const second = await write('mar\u212AUS@example.com', 'One')
    const found = await branch.findAuthors([first], second)
    expect(found).toContain('mar\u212Aus@example.com')
    expect(found).not.toContain('markus@example.com')
    for (const [email, text] of [
      ['', 'Two'],
      ['ada', 'Two'],
      ['ada@example.com', 'Two\n\nCo-authored-by: Bob'],
    ] as const)
      expect(await branch.findAuthors([second], await write(email, text))).toMatch(
        /^commit [0-9a-f]{12} names somebody without an address$/,
      )
  })

  it('knows no author where the remote itself has no whole history', async ({ followed }) => {
    await followed.push({ 'a.yaml': '' })
    const last = await followed.push({ 'b.yaml': '' })
    const shallow = followed.path('shallow.git')
    const address = `file://${followed.remote}`
    await followed.sandbox.git('.', 'clone', '--quiet', '--bare', '--depth', '1', address, shallow)
    await followed.sandbox.git('shallow.git', 'config', 'uploadpack.allowFilter', 'true')
    const branch = await followed.open({ repository: shallow })
    await branch.fetch().catch((error: unknown) => error)
    await expect(branch.findAuthors([null], last)).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('reports when it was forced to an older or unrelated commit', async ({ followed }) => {
    const branch = await followed.open()
    const first = await branch.fetch()
    const second = await followed.push({ 'a.yaml': '' })
    expect(await branch.fetch()).toBe(second)
    expect(await branch.isAncestor(first, second)).toBe(true)
    await followed.git('push', '--quiet', '--force', 'origin', `${first}:main`)
    expect(await branch.fetch()).toBe(first)
    expect(await branch.isAncestor(second, first)).toBe(false)
    await followed.git('checkout', '--quiet', '--orphan', 'unrelated')
    const unrelated = await followed.push({ 'b.yaml': '' })
    expect(await branch.fetch()).toBe(unrelated)
    expect(await branch.isAncestor(first, unrelated)).toBe(false)
    expect(await branch.isAncestor(unknown, unrelated)).toBe(false)
  })

  it('may be deleted, and lists others then', async ({ followed }) => {
    await followed.push({}, 'refs/heads/release')
    const branch = await followed.open({ branch: 'release' })
    await followed.git('push', '--quiet', 'origin', ':release')
    const failure = await findFailure(branch.fetch())
    expect(failure).toMatchObject({ code: 'unavailable' })
    expect(failure['message']).toContain('has no branch release')
    expect(failure['hint']).toContain('main')
    await followed.push({}, 'refs/heads/release')
    expect(await branch.fetch()).toMatch(/^[0-9a-f]{40}$/)
  })

  it('gives a commit that was pushed only to another ref', async ({ followed }) => {
    const branch = await followed.open()
    await branch.fetch()
    const commit = await followed.push({ 'ci.yaml': 'ci\n' }, 'refs/pull/7/head')
    expect(readFileSync(join(await branch.checkOut(commit), 'ci.yaml'), 'utf8')).toBe('ci\n')
    expect((await findFailure(branch.checkOut(unknown)))['message']).toContain('has no commit')
    for (const invalid of ['HEAD', '--all', 'main', commit.slice(0, 12)])
      expect(await findFailure(branch.checkOut(invalid))).toMatchObject({ code: 'unavailable' })
  })

  it('follows the origin of a clone, which it does not change', async ({ followed }) => {
    await followed.push({ 'cdn/edgewise.yaml': workspace })
    const before = await followed.git('for-each-ref')
    const branch = await followed.open({ repository: null, cwd: followed.path('clone', 'cdn') })
    expect(branch.location).toBe(followed.remote)
    const next = await followed.push({ 'cdn/a.yaml': '' })
    await followed.git('update-ref', 'refs/remotes/origin/main', 'HEAD~1')
    expect(await branch.fetch()).toBe(next)
    const folder = await branch.checkOut(next)
    expect([basename(folder), basename(dirname(folder))]).toEqual(['cdn', next])
    expect(before.split('\n').length).toBe((await followed.git('for-each-ref')).split('\n').length)
    const outside = await findFailure(followed.open({ repository: null }))
    expect(outside).toMatchObject({ code: 'usage' })
    expect(outside['message']).toContain('no git repository')
  })
})

describe('the workspace of a commit', () => {
  it('is in the given folder', async ({ followed }) => {
    const commit = await followed.push({ 'a/b/edgewise.yaml': workspace })
    const branch = await followed.open({ folder: './a/b/' })
    const folder = await branch.checkOut(commit)
    expect(folder.endsWith(join(commit, 'a', 'b'))).toBe(true)
    const other = await followed.open({ folder: 'a' })
    const failure = await findFailure(other.checkOut(commit))
    expect(failure).toMatchObject({ code: 'not-a-workspace' })
    expect(failure['hint']).toContain('a/b')
  })

  it('is the only one, or must be chosen', async ({ followed }) => {
    await followed.git('rm', '--quiet', 'edgewise.yaml')
    const [none, one, two] = [
      await followed.push({ 'README.md': '' }),
      await followed.push({ 'eu/edgewise.yaml': workspace }),
      await followed.push({ 'us/edgewise.yaml': workspace }),
    ]
    const branch = await followed.open()
    expect(basename(await branch.checkOut(one))).toBe('eu')
    expect(await findFailure(branch.checkOut(none))).toMatchObject({ code: 'not-a-workspace' })
    const several = await findFailure(branch.checkOut(two))
    expect(several).toMatchObject({ code: 'not-a-workspace' })
    expect(several['hint']).toContain('--folder: eu, us')
  })

  it('is not outside of the checkout', async ({ followed }) => {
    const outside = followed.path('outside')
    await followed.sandbox.repository('outside')
    writeFileSync(join(outside, 'edgewise.yaml'), workspace)
    await followed.git('config', 'core.symlinks', 'true')
    symlinkSync(outside, followed.path('clone', 'link'))
    symlinkSync('.', followed.path('clone', 'here'))
    const commit = await followed.push({ 'file/keep': '' })
    symlinkSync(join(outside, 'edgewise.yaml'), followed.path('clone', 'file/edgewise.yaml'))
    const linked = await followed.push({})
    const open = (folder: string) => followed.open({ folder })
    expect(await (await open('here')).checkOut(commit)).toContain(commit)
    for (const [folder, at] of [
      ['link', commit],
      ['file', linked],
    ] as const) {
      const failure = await findFailure((await open(folder)).checkOut(at))
      expect(failure).toMatchObject({ code: 'not-a-workspace' })
    }
  })
})

describe('the data folder', () => {
  const list = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' })

  it('is private, and keeps the clone after the end', async ({ followed }) => {
    const branch = await followed.open()
    const commit = await branch.fetch()
    await branch.close()
    const [hash = ''] = readdirSync(followed.data)
    expect(statSync(join(followed.data, hash)).mode & 0o777).toBe(0o700)
    expect(readdirSync(join(followed.data, hash))).toEqual(['clone'])
    const { ino } = statSync(join(followed.data, hash, 'clone'))
    const again = await followed.open()
    await again.checkOut(await again.fetch())
    expect(await again.fetch()).toBe(commit)
    expect(statSync(join(followed.data, hash, 'clone')).ino).toBe(ino)
  })

  it('is shared by processes', async ({ followed }) => {
    const branches = await Promise.all(
      [1, 2, 3].map((pid) => followed.open({ machine: buildMachine(pid) })),
    )
    const follow = () =>
      Promise.all(branches.map(async (branch) => branch.checkOut(await branch.fetch())))
    const folders = await follow()
    expect(new Set(folders).size).toBe(3)
    await followed.push({ 'a.yaml': 'a' })
    for (const folder of await follow())
      expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe('a')
    await branches[0]?.close()
    await branches[1]?.keepOnly([])
    expect(readFileSync(join(folders[2] ?? '', 'edgewise.yaml'), 'utf8')).toBe(workspace)
  })

  it('loses what killed processes left', async ({ followed }) => {
    const killed = await followed.open({ machine: buildMachine(7) })
    const folder = await killed.checkOut(await killed.fetch())
    const own = dirname(folder)
    await followed.open({ machine: buildMachine(8) })
    expect(list(own)).toContain('process.json')
    await followed.open({ machine: buildMachine(9, [7]) })
    expect(() => list(own)).toThrow('ENOENT')
  })

  it('loses what unknown processes have left for a day', async ({ followed }) => {
    const elsewhere = { ...buildMachine(7), namespace: 'another' }
    const old = await followed.open({ machine: elsewhere })
    const own = dirname(await old.checkOut(await old.fetch()))
    await followed.open({ machine: buildMachine(8, [7]) })
    expect(list(own)).toContain('process.json')
    utimesSync(own, Date.now() / 1000 - 90_000, Date.now() / 1000 - 90_000)
    await followed.open({ machine: buildMachine(8, [7]) })
    expect(() => list(own)).toThrow('ENOENT')
  })

  it('loses unfinished packs that nothing writes to any more', async ({ followed }) => {
    const branch = await followed.open()
    const folder = await branch.checkOut(await branch.fetch())
    const packs = join(dirname(folder), '..', 'clone', 'objects', 'pack')
    const names = ['tmp_pack_old', '.tmp-1-pack-old.idx', 'tmp_pack_new', 'pack-old.keep']
    for (const each of names) writeFileSync(join(packs, each), '')
    const old = Date.now() / 1000 - 700
    for (const each of names) if (each !== 'tmp_pack_new') utimesSync(join(packs, each), old, old)
    await branch.fetch()
    const left = readdirSync(packs).filter((each) => names.includes(each))
    expect(left.toSorted()).toEqual(['pack-old.keep', 'tmp_pack_new'])
  })

  it('keeps only the commits in use', async ({ followed }) => {
    const branch = await followed.open()
    const folders = [await branch.checkOut(await branch.fetch())]
    for (const text of ['1', '2']) {
      await followed.push({ 'a.yaml': text })
      folders.push(await branch.checkOut(await branch.fetch()))
    }
    const [first = '', second = '', third = ''] = folders
    await branch.keepOnly([basename(first), basename(third)])
    expect(readdirSync(dirname(first)).toSorted()).toEqual(
      [basename(first), basename(third), 'process.json'].toSorted(),
    )
    expect(await branch.checkOut(basename(second))).toBe(second)
  })

  it('does not grow with the number of commits', async ({ followed }) => {
    const branch = await followed.open()
    let folder = ''
    for (let i = 0; i < 30; i++) {
      const commit = await followed.push({ 'a.yaml': String(i) })
      folder = await branch.checkOut(await branch.fetch())
      await branch.keepOnly([commit])
    }
    expect(readdirSync(dirname(folder))).toHaveLength(2)
    const clone = join(dirname(folder), '..', 'clone')
    const packs = list(join(clone, 'objects', 'pack')).filter((name) => name.endsWith('.pack'))
    expect(packs.length).toBeLessThan(51)
    const refs = await followed.sandbox.git(
      relative(followed.sandbox.folder, clone),
      'for-each-ref',
    )
    expect(refs.split('\n')).toHaveLength(1)
    await followed.push({ 'a.yaml': 'last' })
    const last = await branch.checkOut(await branch.fetch())
    expect(readFileSync(join(last, 'a.yaml'), 'utf8')).toBe('last')
  })

  const damages: [string, (clone: string) => void][] = [
    ['has no HEAD', (clone) => rmSync(join(clone, 'HEAD'))],
    ['is empty', (clone) => list(clone).forEach((name) => rmSync(join(clone, name), forced))],
    ['has lost its objects', (clone) => rmSync(join(clone, 'objects'), forced)],
    ['has a broken pack', breakPacks],
    ['is gone', (clone) => rmSync(clone, forced)],
  ]
  it.for(damages)('has a new clone if the old one %s', async ([, damage], { followed }) => {
    const branch = await followed.open()
    const first = await branch.fetch()
    const folder = await branch.checkOut(first)
    await followed.push({ 'a.yaml': 'a' })
    damage(join(dirname(folder), '..', 'clone'))
    const next = await branch.checkOut(await branch.fetch())
    expect(readFileSync(join(next, 'a.yaml'), 'utf8')).toBe('a')
    expect(await branch.isAncestor(first, basename(next))).toBe(true)
    expect(await findHeadCommit(folder, followed.sandbox.env)).toBe(first)
    await branch.keepOnly([])
    expect(readdirSync(dirname(folder)).toSorted()).toEqual(
      [basename(next), 'process.json'].toSorted(),
    )
  })

  const forced = { recursive: true, force: true }
  function breakPacks(clone: string): void {
    const folder = join(clone, 'objects', 'pack')
    for (const name of readdirSync(folder)) {
      rmSync(join(folder, name))
      writeFileSync(join(folder, name), 'broken')
    }
  }
})
