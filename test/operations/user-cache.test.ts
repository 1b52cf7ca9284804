import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheFile } from '../../src/manifest/manifests/cache/manifest-cache.ts'
import { createUserCache } from '../../src/operations/runtime/node-outside.ts'

let place: string
let root: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'edgewise-'))
  root = join(place, 'work/cdn')
  mkdirSync(root, { recursive: true })
  writeFileSync(join(root, 'edgewise.yaml'), '')
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

const open = (base = join(place, 'cache')) =>
  createUserCache({ XDG_CACHE_HOME: base, HOME: place }).open(root, 'manifests')

/** Opens the cache, which has to be there. */
function openHere(): CacheFile {
  const file = open()
  if (file === null) throw new TypeError('expected a cache')
  return file
}

const folder = () => join(place, 'cache/edgewise')
const findFile = () => join(folder(), readdirSync(folder())[0] ?? '')

describe('the cache of the user', () => {
  it('keeps the text of a workspace, for this user only', () => {
    expect(openHere().load()).toBeNull()
    openHere().save('text')
    expect(openHere().load()).toBe('text')
    openHere().save('new text')
    expect(openHere().load()).toBe('new text')
    expect(readdirSync(folder())).toHaveLength(1)
    expect(statSync(folder()).mode & 0o777).toBe(0o700)
    expect(statSync(findFile()).mode & 0o777).toBe(0o600)
  })

  it('has a file for each workspace', () => {
    openHere().save('text')
    mkdirSync(join(place, 'work/other'))
    root = join(place, 'work/other')
    expect(openHere().load()).toBeNull()
  })

  it('has a file for each part of a workspace', () => {
    openHere().save('text')
    const cache = createUserCache({ XDG_CACHE_HOME: join(place, 'cache') })
    expect(cache.open(root, 'reads')?.load()).toBeNull()
  })

  it.each([
    ['XDG_CACHE_HOME', { XDG_CACHE_HOME: '/cache', HOME: '/home' }, 'cache/edgewise'],
    ['LOCALAPPDATA', { LOCALAPPDATA: '/local', HOME: '/home' }, 'local/edgewise'],
    ['HOME', { XDG_CACHE_HOME: 'relative', HOME: '/home' }, 'home/.cache/edgewise'],
  ])('is in the folder that %s names', (_, env, expected) => {
    const placed = Object.entries(env).map(([name, path]) => [
      name,
      path.replace(/^\//, `${place}/`),
    ])
    createUserCache(Object.fromEntries(placed)).open(root, 'manifests')?.save('text')
    expect(readdirSync(join(place, expected))).toHaveLength(1)
  })

  it('is nowhere without an absolute folder', () => {
    for (const env of [{}, { HOME: '' }, { XDG_CACHE_HOME: 'cache' }])
      expect(createUserCache(env).open(root, 'manifests')).toBeNull()
  })

  it('is never in a workspace', () => {
    for (const base of [root, join(root, 'deep/cache')]) {
      expect(open(base)).toBeNull()
      expect(existsSync(join(base, 'edgewise'))).toBe(false)
    }
    expect(open(join(place, 'work/cache'))).not.toBeNull()
  })

  it.each(['.git', '.hg', '.jj', '.sl', '.svn', '.fslckout', '_FOSSIL_', '.repo', 'CVS'])(
    'is never below a folder with %s, be it a file or a folder',
    (mark) => {
      writeFileSync(join(place, mark), '')
      expect(open()).toBeNull()
      rmSync(join(place, mark))
      mkdirSync(join(place, 'work', mark))
      expect(open(join(place, 'work/deep/cache'))).toBeNull()
      expect(open()).not.toBeNull()
    },
  )

  it('is never below a folder that looks like a bare repository', () => {
    for (const name of ['HEAD', 'objects']) {
      expect(open()).not.toBeNull()
      writeFileSync(join(place, name), '')
    }
    expect(open()).toBeNull()
  })

  it.each([
    ['true', undefined, false],
    ['1', 'off', false],
    ['true', 'on', true],
    ['false', undefined, true],
    ['', undefined, true],
  ])('with CI=%s and EDGEWISE_CACHE=%s is there: %s', (CI, EDGEWISE_CACHE, isThere) => {
    const env = { XDG_CACHE_HOME: join(place, 'cache'), CI, EDGEWISE_CACHE }
    expect(createUserCache(env).open(root, 'manifests') !== null).toBe(isThere)
  })

  it('ignores one that a checkout brings, also through a link', () => {
    openHere().save('forged')
    renameSync(join(place, 'cache'), join(root, '.cache'))
    expect(createUserCache({ HOME: root }).open(root, 'manifests')).toBeNull()
    symlinkSync(join(root, '.cache'), join(place, 'cache'))
    expect(open()).toBeNull()
  })

  it('ignores a folder that is a link, a file, or that others can write', () => {
    openHere().save('text')
    for (const mode of [0o770, 0o702]) {
      chmodSync(folder(), mode)
      expect(open()).toBeNull()
    }
    chmodSync(folder(), 0o700)
    expect(open()).not.toBeNull()
    renameSync(folder(), join(place, 'elsewhere'))
    symlinkSync(join(place, 'elsewhere'), folder())
    expect(open()).toBeNull()
    rmSync(folder())
    writeFileSync(folder(), '')
    expect(open()).toBeNull()
  })

  it('makes no folder before there is something to keep', () => {
    expect(openHere().load()).toBeNull()
    expect(existsSync(folder())).toBe(false)
  })

  it('ignores a file that is a link, that others can write, or that is a folder', () => {
    openHere().save('text')
    const file = findFile()
    chmodSync(file, 0o620)
    expect(openHere().load()).toBeNull()
    chmodSync(file, 0o600)
    expect(openHere().load()).toBe('text')
    renameSync(file, join(place, 'elsewhere'))
    symlinkSync(join(place, 'elsewhere'), file)
    expect(openHere().load()).toBeNull()
    rmSync(file)
    mkdirSync(file)
    expect(openHere().load()).toBeNull()
    openHere().save('text')
  })

  it.runIf(process.getuid?.() === 0)('ignores a folder and a file of another user', () => {
    openHere().save('text')
    chownSync(findFile(), 12_345, 12_345)
    expect(openHere().load()).toBeNull()
    chownSync(folder(), 12_345, 12_345)
    expect(open()).toBeNull()
  })

  it('removes the oldest files and abandoned ones, and nothing else', () => {
    openHere().save('text')
    const own = readdirSync(folder())
    const names = Array.from({ length: 52 }, (_, i) => `${String(i).padStart(32, '0')}.json`)
    const [now, uuid] = [
      statSync(findFile()).mtimeMs / 1000,
      '0b5ea2ff-7d4b-4a3a-9d0f-6a7e0d1c2b3a',
    ]
    const add = (name: string, age: number) => {
      writeFileSync(join(folder(), name), '')
      utimesSync(join(folder(), name), now - age, now - age)
    }
    names.forEach((name, i) => add(name, 1_000 + i))
    add(`${names[0]}.${uuid}.tmp`, 7_200)
    add(`${names[1]}.${uuid}.tmp`, 60)
    add('notes.txt', 1e6)
    openHere().save('text')
    const kept = [...names.slice(0, 47), `${names[1]}.${uuid}.tmp`, 'notes.txt', ...own]
    expect(readdirSync(folder()).toSorted()).toEqual(kept.toSorted())
  })
})
