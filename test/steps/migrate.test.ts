// @module-tag often
import { join } from 'node:path'
import { rmSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { GitSandbox } from '../state/git-sandbox.ts'
import { Place, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

const [www, api] = ['www.example.com', 'api.example.com']
const oldState = 'state: {store: dir, path: .edgewise/state}'

setStage()
beforeEach(async () => {
  place.manifest(www, { timeout: { time: 60 }, https: { cert_id: 1 } })
  await place.settle()
  place.manifest(api, { timeout: { time: 10 } })
  await setFaults(emulator, { kind: 'reset-after', probability: 1 })
  expect((await place.cli('apply', '--yes')).code).toBe(3)
  await setFaults(emulator)
})

const migrate = (to: string, ...more: string[]) =>
  place.cli('state', 'migrate', '--to', to, '--yes', ...more)

/** Configures another store. */
function configure(from: string, state: string, at = place): void {
  at.write('edgewise.yaml', at.read('edgewise.yaml').replace(from, state))
}

/** Returns everything that commands show of the state. */
async function showState(at = place): Promise<JsonObject[]> {
  return [
    await at.json('state', 'list'),
    await at.json('state', 'history'),
    await at.recorded(www),
    await at.recorded(api),
  ]
}

describe('state migrate', () => {
  it('copies state, history and unfinished applies, and leaves the old store', async () => {
    const before = await showState()
    const other = new Place(emulator.url, 'id: staging\n', { root: join(place.root, 'staging') })
    await other.manifest('b.example.com', { timeout: { time: 60 } }).settle()
    const { code, out, err } = await migrate('dir:moved')
    expect([code, err]).toEqual([0, ''])
    const state = 'state: {store: "dir", path: "moved"}'
    expect(out).toMatch(/^Copied and compared [0-9]+ files of state: it is in .*moved now\.\n/)
    expect(out).toContain(state)
    for (const command of [['plan'], ['apply', '--yes'], ['state', 'list']]) {
      const refused = await place.cli(...command)
      expect(refused.code).toBe(1)
      expect(refused.err).toContain('the state of "default" was migrated to ')
      expect(refused.err).toContain(join(place.root, 'moved'))
    }
    configure(oldState, state)
    expect(await showState()).toEqual(before)
    await place.settle()
    other.remove()
  })

  it('goes to a branch and back to another folder', async () => {
    const sandbox = new GitSandbox()
    await sandbox.withRemote()
    const clone = new Place(emulator.url, '', { root: join(sandbox.folder, 'clone') })
    clone.env = { ...clone.env, ...sandbox.env }
    await clone.manifest('c.example.com', { timeout: { time: 10 } }).settle()
    const before = await clone.json('state', 'history')
    const there = await clone.json('state', 'migrate', '--to', 'git:states', '--yes')
    expect(listSchemaErrors('migrate', there)).toEqual([])
    expect(there).toMatchObject({ location: 'branch states of origin' })
    expect(there['copied']).toBe(there['files'])
    configure(oldState, 'state: {store: git, branch: states}', clone)
    expect(await clone.json('state', 'history')).toEqual(before)
    expect((await clone.cli('plan', '--detailed-exitcode')).code).toBe(0)
    expect((await clone.cli('state', 'migrate', '--to', 'dir:back', '--yes')).code).toBe(0)
    configure('state: {store: git, branch: states}', 'state: {store: dir, path: back}', clone)
    expect(await clone.json('state', 'history')).toEqual(before)
    sandbox.remove()
  })

  it('refuses a place with other state of the workspace, which keeps its state', async () => {
    const other = new Place(emulator.url, '', { root: join(place.root, 'other') })
    await other.manifest('b.example.com', { timeout: { time: 60 } }).settle()
    const { code, err } = await migrate(`dir:${join(other.root, '.edgewise/state')}`)
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('has other state of a workspace "default"'),
    ])
    await place.settle()
    expect((await other.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('refuses a domain that belongs to another workspace there', async () => {
    const other = new Place(emulator.url, 'id: staging\n', { root: join(place.root, 'other') })
    await other.manifest(www, { timeout: { time: 99 } }).settle()
    const { code, err } = await migrate(`dir:${join(other.root, '.edgewise/state')}`)
    expect([code, err]).toEqual([1, expect.stringContaining('belongs to the workspace "staging"')])
    expect((await place.cli('state', 'list')).code).toBe(0)
  })

  it('asks, and needs a place that is valid and another one', async () => {
    place.ask = async () => false
    const declined = await place.cli('state', 'migrate', '--to', 'dir:moved')
    expect(declined.err).toContain('Migration cancelled: nothing was copied')
    const cases: [string, string][] = [
      ['dir:.edgewise/state', 'already'],
      ['git:a..b', 'not valid'],
      ['s3://bucket', 'is not one of git:BRANCH, dir:PATH'],
      ['git:', 'is not one of'],
      ['${env:DATABASE_URL}', 'DATABASE_URL'],
      ['postgres://me:secret@127.0.0.1/db', 'got the password itself'],
    ]
    for (const [to, message] of cases) {
      const { code, err } = await migrate(to)
      expect([to, code, err]).toEqual([to, 1, expect.stringContaining(message)])
    }
    expect((await place.cli('state', 'list')).code).toBe(0)
  })

  it('can be undone, by hand or by another migration', async () => {
    await migrate('dir:moved')
    const folder = join(place.root, '.edgewise/state/default/addresses')
    const name = (await realDisk.list(folder)).find((each) => each.endsWith('.moved.json')) ?? ''
    const file = JSON.parse(String(await realDisk.read(join(folder, name)))) as JsonObject
    expect(file).toMatchObject({ id: 'default', movedTo: join(place.root, 'moved') })
    configure(oldState, 'state: {store: dir, path: moved}')
    await place.manifest(www, { timeout: { time: 61 } }).settle()
    const before = await showState()
    expect(await migrate('dir:.edgewise/state')).toMatchObject({ code: 0 })
    expect((await place.cli('plan')).err).toContain('was migrated to')
    configure('state: {store: dir, path: moved}', oldState)
    expect(await showState()).toEqual(before)
    await migrate('dir:moved')
    rmSync(join(folder, name))
    rmSync(join(place.root, 'moved'), { recursive: true })
    await place.settle()
  })
})
