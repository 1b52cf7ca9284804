import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { removeFileDurably, writeFileDurably } from '../../src/state/write-file.ts'

const faults = vi.hoisted(() => ({ at: '', steps: [] as string[] }))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const step = (name: string): void => {
    faults.steps.push(name)
    if (faults.at === name) throw Object.assign(new Error(`ENOSPC: ${name}`), { code: 'ENOSPC' })
  }
  return {
    ...real,
    openSync: (...given: Parameters<typeof real.openSync>) => {
      step(given[1] === 'wx' ? 'open' : 'open folder')
      return real.openSync(...given)
    },
    // A full disk may take a part of what it is given and say how much; what is left is then for the caller to write.
    writeSync: (file: number, data: string | Uint8Array, offset = 0) => {
      step('write')
      const bytes = Buffer.from(data).subarray(offset)
      return real.writeSync(file, faults.at === 'short write' ? bytes.subarray(0, 10) : bytes)
    },
    writeFileSync: (...given: Parameters<typeof real.writeFileSync>) => {
      if (typeof given[0] === 'number') step('write')
      real.writeFileSync(...given)
    },
    fsyncSync: (file: number) => {
      step('fsync')
      real.fsyncSync(file)
    },
    renameSync: (...given: Parameters<typeof real.renameSync>) => {
      step('rename')
      real.renameSync(...given)
    },
  }
})

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-write-'))
})
afterEach(() => {
  faults.at = ''
  rmSync(folder, { recursive: true, force: true })
})

it.each(['open', 'write', 'short write', 'fsync', 'rename'])('a failure at %s leaves the old text or the new, never a part', (at) => {
  const path = join(folder, 'a.json')
  const [before, after] = ['old text that is long enough', 'new text that is long enough']
  writeFileSync(path, before)
  faults.at = at
  let failed = false
  try {
    writeFileDurably(path, after)
  } catch (error) {
    failed = (error as NodeJS.ErrnoException).code === 'ENOSPC'
    expect(failed).toBe(true)
  }
  expect(readFileSync(path, 'utf8')).toBe(failed ? before : after)
})

it('syncs the file before it takes its name, and the folder after', () => {
  faults.steps.length = 0
  writeFileDurably(join(folder, 'a.json'), 'text')
  expect(faults.steps).toEqual(['open', 'write', 'fsync', 'rename', 'open folder', 'fsync'])
})

it('makes folders, and deletes what is there and what is not', () => {
  const path = join(folder, 'x', 'y', 'a.json')
  writeFileDurably(path, 'text')
  expect(readFileSync(path, 'utf8')).toBe('text')
  removeFileDurably(path)
  removeFileDurably(path)
  expect(readdirSync(join(folder, 'x', 'y'))).toEqual([])
})
