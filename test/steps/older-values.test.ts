// @module-tag often
// @module-tag nightly
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GitSandbox } from '../state/git-sandbox.ts'
import { fetchConfig, fetchWrites, Place, type CommandResult } from './cli.ts'
import { emulator, setStage } from './stage.ts'

setStage()

const domain = 'www.example.com'
let sandbox: GitSandbox
let mine: Place
let theirs: Place
beforeEach(() => {
  sandbox = new GitSandbox()
})
afterEach(() => sandbox.remove())

/** Writes the time-out of the domain in a clone, and other items. */
function write({ root }: Place, seconds: number, more = ''): void {
  const place = root === mine.root ? mine : theirs
  place.write(
    'domains/www.yaml',
    `domain: ${domain}\nconfig:\n  timeout: {time: ${seconds}}\n${more}`,
  )
}

async function commit(place: Place, ...args: string[]): Promise<string> {
  const name = place === mine ? 'mine' : 'theirs'
  await sandbox.git(name, 'add', 'edgewise.yaml', 'domains')
  await sandbox.git(name, 'commit', '--quiet', '--message', 'change', ...args)
  return sandbox.git(name, 'rev-parse', 'HEAD')
}

/** Makes two clones with the same workspace, applied with 10 s, and state on a branch of git. */
async function makeClones(): Promise<void> {
  await sandbox.withRemote('remote.git', 'mine')
  const open = (name: string) => {
    const root = join(sandbox.folder, name)
    const place = new Place(emulator.url, '', { root, state: 'state: {store: git}' })
    place.env = { ...place.env, ...sandbox.env }
    return place
  }
  mine = open('mine')
  write(mine, 10)
  await commit(mine)
  await sandbox.git('mine', 'push', '--quiet', 'origin', 'HEAD')
  await sandbox.git('.', 'clone', '--quiet', 'remote.git', 'theirs')
  theirs = open('theirs')
  await apply(mine)
}

async function apply(place: Place, ...args: string[]): Promise<void> {
  const { code, err } = await place.cli('apply', '--yes', ...args)
  expect([code, err]).toEqual([0, expect.not.stringContaining('older')])
}

const oneLine = ({ err }: CommandResult) => err.replace(/\s+/g, ' ')

async function live(): Promise<unknown> {
  return ((await fetchConfig(emulator, domain)) as Record<string, unknown>)['timeout']
}

/** Expects that an apply of a clone is refused before anything is sent, and its plan marked. */
async function expectRefused(place: Place, undone: string): Promise<void> {
  const before = [await live(), (await fetchWrites(emulator)).length]
  const plan = await place.cli('plan')
  expect(plan.out.replace(/\s+/g, ' ')).toContain(`goes back: undoes ${undone}`)
  expect(oneLine(plan)).toMatch(/back to older values: timeout of www.example.com, applied from/)
  const { older } = (await place.json('plan')) as { older: unknown[] }
  expect(older).toEqual([expect.objectContaining({ domain, item: 'timeout' })])
  const refused = await place.cli('apply', '--yes')
  expect(refused.code).toBe(1)
  // The refusal does not repeat the note.
  expect(oneLine(refused).match(/applied from|git pull/g)).toHaveLength(2)
  expect(oneLine(refused)).toContain(
    `guards.order refuses to go back to older values (timeout of ${domain}); nothing was applied` +
      ' If that is meant, pass --allow-older.',
  )
  expect([await live(), (await fetchWrites(emulator)).length]).toEqual(before)
}

describe('a change back to an older value', () => {
  beforeEach(makeClones)

  it('a terminal is asked, also with --yes', async () => {
    write(mine, 20)
    await commit(mine)
    await apply(mine)
    const questions: string[] = []
    theirs.ask = (question) => {
      questions.push(question.replace(/\s+/g, ' '))
      return Promise.resolve(false)
    }
    expect((await theirs.cli('apply', '--yes')).code).toBe(1)
    expect(questions).toEqual([expect.stringContaining('1 change goes back to older values')])
    theirs.ask = () => Promise.resolve(true)
    expect([(await theirs.cli('apply', '--yes')).code, await live()]).toEqual([0, { time: '10' }])
  })

  it('a saved plan is refused as well', async () => {
    write(mine, 20)
    await commit(mine)
    await apply(mine)
    expect((await theirs.cli('plan', '--out', 'plan.json')).code).toBe(0)
    const { code, err } = await theirs.cli('apply', 'plan.json')
    expect([code, err]).toEqual([1, expect.stringContaining('--allow-older')])
    expect((await theirs.cli('apply', 'plan.json', '--allow-older')).code).toBe(0)
  })

  it('a value that was merged and never applied is older, too', async () => {
    write(mine, 15)
    await commit(mine)
    await sandbox.git('mine', 'push', '--quiet', 'origin', 'HEAD')
    await sandbox.git('theirs', 'pull', '--quiet')
    write(mine, 20)
    const applied = await commit(mine)
    await apply(mine)
    await sandbox.git('theirs', 'fetch', '--quiet', join(sandbox.folder, 'mine'))
    await expectRefused(theirs, `commit ${applied.slice(0, 12)}`)
  })

  it('an item that the stale clone does not have is not released', async () => {
    write(mine, 10, '  https: {cert_id: 0}\n')
    const applied = await commit(mine)
    expect((await mine.cli('apply', '--yes', '--allow', 'https')).code).toBe(0)
    const plan = await theirs.cli('plan')
    expect(plan.out).toContain(`goes back: undoes commit ${applied.slice(0, 12)}`)
    expect((await theirs.cli('apply', '--yes')).code).toBe(1)
  })

  it('other items of the stale clone are applied with --item', async () => {
    write(mine, 20)
    await commit(mine)
    await apply(mine)
    write(theirs, 10, '  origin_host: {host: origin.example.com}\n')
    await commit(theirs)
    await apply(theirs, '--item', 'origin_host')
    expect(await live()).toEqual({ time: '20' })
  })

  it('merges, reverts and rebases that contain what was applied go on', async () => {
    write(mine, 20)
    await commit(mine)
    await apply(mine)
    await sandbox.git('mine', 'checkout', '--quiet', '-b', 'side', 'HEAD~1')
    mine.write('notes.txt', 'a note')
    await sandbox.git('mine', 'add', 'notes.txt')
    await sandbox.git('mine', 'commit', '--quiet', '--message', 'note')
    await sandbox.git('mine', 'merge', '--quiet', '--no-edit', '-')
    write(mine, 30)
    await commit(mine)
    await apply(mine)
    await sandbox.git('mine', 'revert', '--no-edit', 'HEAD')
    await apply(mine)
    expect(await live()).toEqual({ time: '20' })
    await sandbox.git('mine', 'commit', '--quiet', '--amend', '--message', 'other words')
    write(mine, 40)
    await commit(mine)
    const applied = await mine.cli('apply', '--yes')
    expect([applied.code, await live()]).toEqual([0, { time: '40' }])
    expect(oneLine(applied)).toContain('the commit does not contain what these changes replace')
  })

  it('a branch beside the applied one undoes nothing either', async () => {
    await sandbox.git('theirs', 'checkout', '--quiet', '-b', 'side')
    write(theirs, 10, '  origin_host: {host: origin.example.com}\n')
    await commit(theirs)
    write(mine, 20)
    const applied = await commit(mine)
    await apply(mine)
    await expectRefused(theirs, `commit ${applied.slice(0, 12)}`)
  })

  it('uncommitted changes are not undone by a commit without them', async () => {
    write(mine, 20)
    await apply(mine)
    const base = await sandbox.git('mine', 'rev-parse', 'HEAD')
    await expectRefused(theirs, `uncommitted changes on top of ${base.slice(0, 12)}`)
    write(mine, 25)
    await apply(mine)
    write(mine, 20)
    await apply(mine)
    write(mine, 25)
    await apply(mine)
    await expectRefused(theirs, `uncommitted changes on top of ${base.slice(0, 12)}`)
    await commit(mine)
    expect((await mine.cli('plan')).err).not.toContain('older')
    write(mine, 30)
    await commit(mine)
    await apply(mine)
  })

  it('a shallow clone says what is not known, and refuses only what is certain', async () => {
    write(mine, 20)
    const applied = await commit(mine)
    await sandbox.git('mine', 'push', '--quiet', 'origin', 'HEAD')
    await apply(mine)
    write(mine, 10)
    await commit(mine)
    await sandbox.git('mine', 'push', '--quiet', 'origin', 'HEAD')
    await sandbox.git('theirs', 'fetch', '--quiet', '--depth', '1', 'origin')
    await sandbox.git('theirs', 'reset', '--quiet', '--hard', 'FETCH_HEAD')
    const url = `file://${join(sandbox.folder, 'remote.git')}`
    await sandbox.git('.', 'clone', '--quiet', '--depth', '1', url, 'shallow')
    const root = join(sandbox.folder, 'shallow')
    const shallow = new Place(emulator.url, '', { root, state: 'state: {store: git}' })
    shallow.env = { ...shallow.env, ...sandbox.env }
    const shown = await shallow.cli('apply', '--yes')
    expect([shown.code, await live()]).toEqual([0, { time: '10' }])
    expect(oneLine(shown)).toContain(
      'this clone is shallow: it is not known whether its commit contains timeout of ' +
        `${domain}, applied from commit ${applied.slice(0, 12)}`,
    )
  })

  it('a rollback goes back without an option, and names what made the change', async () => {
    write(mine, 20)
    const applied = await commit(mine)
    await apply(mine)
    expect(oneLine(await mine.cli('rollback', '--yes'))).toContain(
      `git revert ${applied.slice(0, 12)}`,
    )
  })

  it('two workspaces of a repository are apart', async () => {
    const root = join(sandbox.folder, 'mine', 'staging')
    const staging = new Place(emulator.url, 'id: staging\n', { root, state: 'state: {store: git}' })
    staging.env = { ...mine.env }
    staging.manifest('stage.example.com', { timeout: { time: '10' } })
    await sandbox.git('mine', 'add', 'staging')
    await sandbox.git('mine', 'commit', '--quiet', '--message', 'staging')
    await apply(staging)
    write(mine, 20)
    staging.manifest('stage.example.com', { timeout: { time: '30' } })
    await sandbox.git('mine', 'commit', '--quiet', '--message', 'more', 'staging')
    await apply(staging)
    expect((await staging.cli('state', 'history')).out).not.toContain('uncommitted')
    await apply(mine)
    expect((await mine.cli('state', 'history')).out).toContain('uncommitted changes on top of')
  })
})

describe('the tree of an apply', () => {
  beforeEach(makeClones)

  it.each([
    ['a changed manifest', () => write(mine, 20), true],
    [
      'a new manifest',
      () => void mine.manifest('new.example.com', { timeout: { time: '5' } }),
      true,
    ],
    ['a file that is no manifest', () => mine.write('notes.txt', 'a note'), false],
  ])('with %s', async (_, change, isUncommitted) => {
    change()
    await mine.cli('apply', '--yes')
    const { basis } = (await mine.json('plan')) as { basis: Record<string, unknown> }
    const head = await sandbox.git('mine', 'rev-parse', 'HEAD')
    expect([basis['commit'], basis['onTopOf']]).toEqual(
      isUncommitted ? [null, head] : [head, undefined],
    )
  })

  it.each([
    ['manifest is not the commit', 'domains/new.yaml', true],
    ['file that no glob matches is the commit', 'domains/old/new.yaml', false],
  ])('without a committed %s', async (_, path, isUncommitted) => {
    mine.write('edgewise.yaml', `${mine.read('edgewise.yaml')}manifests: [domains/*.yaml]\n`)
    mine.write(path, 'domain: new.example.com\nconfig: {timeout: {time: 5}}\n')
    const committed = await commit(mine)
    rmSync(join(mine.root, path))
    const { basis } = (await mine.json('plan')) as { basis: Record<string, unknown> }
    expect(basis['commit']).toBe(isUncommitted ? null : committed)
  })

  it('is never named by the advice to revert, if it did not make the change', async () => {
    write(mine, 20)
    await apply(mine)
    const advice = oneLine(await mine.cli('rollback', '--yes'))
    expect(advice).toContain('git revert')
    expect(advice).not.toMatch(/git revert [0-9a-f]/)
    write(mine, 30)
    await commit(mine)
    write(mine, 40)
    await commit(mine)
    await apply(mine)
    expect(oneLine(await mine.cli('rollback', '--yes'))).not.toMatch(/git revert [0-9a-f]/)
  })
})
