import { expect, it } from 'vitest'
import { restrictToReading } from '../../src/cli/mcp/read-only.ts'
import type { Outside } from '../../src/operations/runtime/parts.ts'
import { loadWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import type { Connection } from '../../src/state/postgres/database.ts'
import type { GitRepository } from '../../src/state/git/git-repository.ts'
import { emulator, place, setStage } from '../steps/stage.ts'

setStage()

function restrict(more: Partial<Outside> = {}): Outside {
  const io = { ...place.createIo(), ...more }
  return restrictToReading(io, loadWorkspace(place.root, io, 'none'), io.signal)
}

it('the transport sends GET requests only', async () => {
  const { transport } = restrict()
  const request = { url: `${emulator.url}/v2/`, timeoutMs: 5000 }
  expect((await transport?.(request))?.status).toBeGreaterThan(0)
  await expect(transport?.({ ...request, body: '{}' })).rejects.toThrow('only read')
  await expect(transport?.({ ...request, method: 'DELETE' })).rejects.toThrow('only read')
})

it('the disk is only read', async () => {
  const { disk } = restrict()
  expect(await disk.read(`${place.root}/edgewise.yaml`)).toContain('version: 1')
  expect(await disk.list(place.root)).toContain('edgewise.yaml')
  const path = `${place.root}/x`
  const attempts = [
    disk.create(path, ''),
    disk.append(path, ''),
    disk.makeFolder(path),
    disk.link(path, path),
    disk.rename(path, path),
    disk.remove(path),
    disk.sync(path),
    disk.syncIfThere(path),
    disk.syncAll(path),
  ]
  for (const attempt of await Promise.allSettled(attempts))
    expect(attempt).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
  expect(await disk.exists(path)).toBe(false)
})

it('nothing is pushed', async () => {
  const pushed: unknown[] = []
  const repository = {
    findTip: () => Promise.resolve('tip'),
    push: (...given: unknown[]) => Promise.resolve(pushed.push(given) > 0),
  } as unknown as GitRepository
  const git = await restrict({ openGit: () => Promise.resolve(repository) }).openGit?.(
    '.',
    'origin',
  )
  expect(await git?.findTip('x')).toBe('tip')
  await expect(git?.push('x', null, null)).rejects.toThrow('a push was refused')
  expect(pushed).toEqual([])
})

it('each transaction of a database only reads', async () => {
  const statements: string[] = []
  const connection: Connection = {
    query: (statement) => {
      statements.push(statement)
      return Promise.resolve({ rows: [] })
    },
    on: () => undefined,
    off: () => undefined,
    release: () => undefined,
  }
  const outside = restrict({ createPool: () => ({ connect: () => Promise.resolve(connection) }) })
  const pool = outside.createPool?.({ url: 'postgres://x/y', schema: 'z' })
  const connected = await pool?.connect()
  await connected?.query('begin isolation level read committed;\n  set local x = 1')
  await connected?.query('begin isolation level repeatable read read only')
  await connected?.query('select 1')
  await connected?.query('commit')
  expect(statements).toEqual([
    'begin isolation level read committed read only;\n  set local x = 1',
    'begin isolation level repeatable read read only',
    'select 1',
    'commit',
  ])
  await expect(connected?.query('begin')).rejects.toThrow('only read')
})

it('there is no cache', () => {
  const { cache, onSending, onPhase, note } = restrict({ cache: { open: () => null } })
  expect([cache, onSending, onPhase, note]).toEqual(Array.from({ length: 4 }))
})
