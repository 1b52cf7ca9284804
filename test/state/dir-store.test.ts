import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { openState, type OpenState } from '../../src/state/open-state.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { buildApplied, buildItem, buildDomain, storeContract, type Kind } from './store-contract.ts'

interface FolderKind extends Kind {
  folder: string
  files(): string[]
}

async function inFolder(): Promise<FolderKind> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-state-'))
  let processes = 0
  const open = async (
    id = 'default',
    address = 'https://api.example.net',
    account = 'default',
  ): Promise<OpenState> =>
    openState(
      {
        root: folder,
        id,
        address,
        account,
        state: { store: 'dir', branch: 'edgewise-state', remote: 'origin', path: 'state' },
      },
      {
        disk: realDisk,
        processName: `p${++processes}`,
        openGit: () => Promise.reject(new Error('expected no git')),
      },
    )
  const files = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  return {
    folder,
    files,
    open,
    elsewhere: open,
    damage: async (name, change) => {
      const path = files().find((file) => file.endsWith(name) && !file.includes('/open/'))
      if (path === undefined) throw new Error(`expected a file ${name}, got ${files().join(', ')}`)
      writeFileSync(path, change(readFileSync(path, 'utf8')))
    },
    everything: async () => files().map((file) => [file, readFileSync(file, 'utf8')]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

storeContract('a folder', inFolder)

it('a record in a folder is readable by its owner only', async () => {
  const kind = await inFolder()
  const { store, lock } = await kind.open()
  await store.save(buildDomain('a.example.com', { timeout: buildItem('1') }), 'test')
  await store.saveCalls('x', [])
  await lock.compareAndSwap(null, 'me')
  expect(kind.files().length).toBeGreaterThan(3)
  for (const path of kind.files()) {
    expect(statSync(path).mode & 0o777, path).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777, dirname(path)).toBe(0o700)
  }
  kind.remove()
})

it('leaves no temporary file behind, and reads none that a dead process left', async () => {
  const kind = await inFolder()
  const { store } = await kind.open()
  await store.save(buildDomain('a.example.com', { timeout: buildItem('1') }), 'test')
  expect(kind.files().filter((path) => path.endsWith('.tmp'))).toEqual([])
  const path = kind.files().find((file) => file.endsWith('a.example.com.json')) ?? ''
  for (const name of [
    'a.example.com.json.99999.tmp',
    'b.example.com.json.1.tmp',
    '.a.example.com.json.swp',
  ]) {
    writeFileSync(join(dirname(path), name), '{"format": "edgewise.rec')
  }
  expect([...(await store.load()).keys()]).toEqual(['a.example.com'])
  kind.remove()
})

it('who lost the lock while asleep writes nothing over what others have written since', async () => {
  const kind = await inFolder()
  const slept = await kind.open()
  const held = await slept.lock.compareAndSwap(null, 'the one that slept')
  await slept.store.save(buildDomain('a.example.com', { timeout: buildItem('1') }), 'test')
  const other = await kind.open()
  await other.store.load()
  await other.lock.compareAndSwap(held, 'the other')
  await other.store.save(buildDomain('a.example.com', { timeout: buildItem('2') }), 'test')
  const now = await kind.everything()
  const late = buildDomain('a.example.com', { timeout: buildItem('3') })
  const moved = { code: 'record-moved', message: expect.stringContaining('the lock') as string }
  await expect(slept.store.save(late, 'test')).rejects.toMatchObject(moved)
  await expect(slept.store.recordOutcomes(buildApplied('late'), [1], late)).rejects.toMatchObject(
    moved,
  )
  await expect(slept.store.saveCalls('late', [])).rejects.toMatchObject(moved)
  expect(await kind.everything()).toEqual(now)
  kind.remove()
})
