// @module-tag often
// @module-tag nightly
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { open } from '../../src/index.ts'
import { takeOver } from '../stories/second-workspace.ts'
import { GitSandbox } from '../state/git-sandbox.ts'
import { Place } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

let sandbox: GitSandbox
setStage()
beforeEach(async () => {
  sandbox = new GitSandbox()
  await sandbox.withRemote()
})
afterEach(() => sandbox.remove())

/** Creates a workspace in a folder of the sandbox. */
function createIn(folder: string, state = ''): Place {
  const made = new Place(emulator.url, '', { root: join(sandbox.folder, folder), state })
  made.env = { ...made.env, ...sandbox.env }
  return made
}

describe('a second workspace with the same id', () => {
  it('is asked before it releases, outside of a repository', async () => {
    const state = `state: {store: dir, path: ${join(sandbox.folder, 'shared')}}`
    await takeOver(createIn('a', state), createIn('b', state), emulator)
  })

  it('is asked before it releases, in another repository with the same path', async () => {
    const folder = join(sandbox.folder, 'shared')
    const state = `state: {store: dir, path: ${folder}}`
    await sandbox.addClone('other')
    const own = 'https://ci:token@git.example.com/team/cdn.git'
    await sandbox.git('clone', 'remote', 'set-url', 'origin', own)
    await sandbox.git('other', 'remote', 'set-url', 'origin', 'git@git.example.com:team/other.git')
    const [first, second] = [createIn('clone/a', state), createIn('other/a', state)]
    await takeOver(first, second, emulator)
  })
})

describe('the question about a release', () => {
  let second: Place
  beforeEach(async () => {
    const first = createIn('clone/a').manifest('www.example.com', { timeout: { time: 60 } })
    await first.settle()
    second = createIn('clone/b').manifest('new.example.com', { timeout: { time: 60 } })
  })

  it('is asked on a terminal, also with --yes', async () => {
    const asked: string[] = []
    let answer = false
    second.ask = async (text) => {
      asked.push(text.replace(/\s+/g, ' '))
      return answer
    }
    expect((await second.cli('apply', '--yes')).code).toBe(1)
    expect(asked).toEqual([
      expect.stringMatching(/1 item of 1 domain to release: .*Is this the workspace that applied/),
    ])
    answer = true
    expect((await second.cli('apply', '--yes')).code).toBe(0)
    expect(asked).toHaveLength(2)
    await second.manifest('new.example.com', {}).settle()
    expect(asked).toHaveLength(2)
  })

  it('is asked for a saved plan, whose Markdown and page have the warning', async () => {
    const files = ['--out', 'plan.json', '--report', 'plan.md', '--report', 'plan.html']
    expect((await second.cli('plan', ...files)).code).toBe(0)
    for (const file of ['plan.json', 'plan.md', 'plan.html'])
      expect([file, second.read(file)]).toEqual([file, expect.stringContaining('allow-release')])
    const { code, out } = await second.cli('apply', 'plan.json', '--json')
    expect([code, JSON.parse(out)]).toMatchObject([1, { code: 'guarded' }])
    expect((await second.cli('apply', 'plan.json', '--allow-release')).code).toBe(0)
  })

  it('is refused by the library, unless its dialogue or the request allows it', async () => {
    const library = (dialogue = {}) => open(second.root, { outside: { env: second.env }, dialogue })
    await expect(library().apply()).rejects.toMatchObject({ code: 'guarded' })
    const confirm = ({ kind }: { kind: string }) => kind !== 'release'
    await expect(library({ confirm }).apply()).rejects.toMatchObject({ code: 'declined' })
    expect((await library().apply({ allowRelease: true })).status).toBe('done')
  })

  it('does not concern rollbacks, which say nothing about who manages the state', async () => {
    const clone = createIn('clone/a')
    await clone.manifest('www.example.com', { timeout: { time: 61 } }).settle()
    expect((await second.cli('rollback', '--yes')).code).toBe(0)
    expect((await second.cli('apply', '--yes')).code).toBe(1)
  })
})

describe('state without an apply, as of "state move"', () => {
  it('is released unasked only if more of it is kept', async () => {
    const first = createIn('clone/a')
    const names = ['a', 'b', 'c'].map((name) => `${name}.example.com`)
    for (const domain of names) first.manifest(domain, { timeout: { time: 60 } })
    await first.settle()
    expect((await first.cli('state', 'move', ...names, '--to', 'other', '--yes')).code).toBe(0)
    const second = createIn('clone/b')
    second.write('edgewise.yaml', `${second.read('edgewise.yaml')}id: other\n`)
    const [a = '', b = ''] = names
    second.manifest(a, { timeout: { time: 60 } })
    const { code, err } = await second.cli('apply', '--yes')
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining(
        '2 items of 2 domains to release: the state of "other" has no apply that says',
      ),
    ])
    await second.manifest(b, { timeout: { time: 60 } }).settle()
  })
})

describe('the workspace that applied before', () => {
  it('is the same over https and ssh, and in a checkout without a remote', async () => {
    const state = `state: {store: dir, path: ${join(sandbox.folder, 'shared')}}`
    const first = createIn('clone/a', state).manifest('www.example.com', { timeout: { time: 60 } })
    const address = 'https://ci:secret@git.example.com/team/cdn.git'
    await sandbox.git('clone', 'remote', 'set-url', 'origin', address)
    await first.settle()
    expect((await first.json('state', 'history'))['applies']).toMatchObject([
      { workspace: 'git.example.com/team/cdn//a/edgewise.yaml' },
    ])
    for (const args of [
      ['set-url', 'origin', 'git@git.example.com:team/cdn'],
      ['remove', 'origin'],
    ]) {
      await sandbox.git('clone', 'remote', ...args)
      await first.manifest('www.example.com', {}).settle()
      await first.manifest('www.example.com', { timeout: { time: 60 } }).settle()
    }
  })

  it('releases all it has, in another clone and with renamed manifests', async () => {
    const first = createIn('clone/cdn')
    first.write('domains/one.yaml', 'domain: www.example.com\nconfig: {timeout: {time: 60}}\n')
    await first.settle()
    await sandbox.addClone('other')
    const other = createIn('other/cdn')
    other.write('domains/two.yaml', 'domain: new.example.com\nconfig: {timeout: {time: 60}}\n')
    await other.settle()
    expect((await other.json('state', 'history'))['applies']).toMatchObject([
      { workspace: 'cdn/edgewise.yaml' },
      { workspace: 'cdn/edgewise.yaml' },
    ])
  })

  it('is not asked at its first apply, nor after an import', async () => {
    await place.manifest('www.example.com', { timeout: { time: 60 } }).settle()
    const next = createIn('clone/a')
    next.manifest('a.example.com', { timeout: { time: 60 }, https: { cert_id: 1 } })
    const live = { 'a.example.com': { timeout: { time: 60 }, https: { cert_id: 1 } } }
    next.write('live.json', JSON.stringify(live))
    expect((await next.cli('import', 'live.json')).code).toBe(0)
    await next.manifest('a.example.com', { timeout: { time: 60 } }).settle()
  })
})

describe('a manifest whose file moved or was renamed', () => {
  it('changes nothing: no release, no note, the same history, owner and protection', async () => {
    const state = `state: {store: dir, path: ${join(sandbox.folder, 'shared')}}`
    const first = createIn('clone/a', `${state}\nguards: {protect: [www.example.com]}`)
    const text = 'domain: www.example.com\nconfig: {timeout: {time: 60}}\n'
    first.write('domains/www.yaml', text)
    first.write(
      'edgewise.yaml',
      first.read('edgewise.yaml').replace('protect: [www', 'protect: [x'),
    )
    await first.settle()
    first.write(
      'edgewise.yaml',
      first.read('edgewise.yaml').replace('protect: [x', 'protect: [www'),
    )
    const history = (await first.cli('state', 'history', 'www.example.com', '--json')).out

    rmSync(join(first.root, 'domains/www.yaml'))
    const other = 'domain: api.example.com\nconfig: {}\n'
    first.write('domains/video/both.yml', `${other}---\n${text}`)
    const { code, err } = await first.cli('plan', '--detailed-exitcode')
    // The protection of the apply before counts, too; a manifest that moved is no note.
    expect([code, err.replaceAll(/\s+/g, ' ').trim()]).toEqual([
      0,
      expect.stringContaining(
        'note: guards.protect: this commit has www.example.com; www.example.com, ' +
          'x.example.com counts, as applied last. Merge that alone first',
      ),
    ])
    expect(await first.json('plan')).toMatchObject({
      changes: [],
      warnings: [
        expect.stringMatching(/^guards\.protect: /),
        expect.stringMatching(/^manifests have uncommitted changes on top of \w+$/),
      ],
    })
    expect((await first.cli('apply', '--yes')).code).toBe(0)
    expect((await first.cli('state', 'history', 'www.example.com', '--json')).out).toBe(history)

    const second = createIn('clone/b', `id: other\n${state}`)
    second.manifest('www.example.com', { timeout: { time: 60 } })
    expect((await second.cli('plan')).err).toContain('belongs to the workspace "default"')
    first.write('domains/video/both.yml', `${other}---\n${text.replace('60', '61')}`)
    const guarded = await first.cli('apply', '--yes')
    expect([guarded.code, guarded.err]).toEqual([1, expect.stringContaining('protect')])
  })
})
