import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EdgewiseError } from '../../src/model/edgewise-error.ts'
import { openDirStore } from '../../src/state/dir-store.ts'
import type { RecordedItem } from '../../src/state/record.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-state-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = '2026-11-20T00:00:00.000Z'
const item = (value: string, more: Partial<RecordedItem> = {}): RecordedItem => ({
  status: 'confirmed',
  candidates: [{ time: value }],
  at,
  apply: 'first',
  origin: 'write',
  ...more,
})
const open = (id = 'default', address = 'https://api.example.net', account = 'default') => openDirStore(folder, { id, address }, account)
const of = (domain: string, items: Record<string, RecordedItem>) => new Map([[domain, new Map(Object.entries(items))]])

function files(): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function fileOf(domain: string): string {
  const found = files().find((path) => path.endsWith(`/${domain}.json`))
  if (found === undefined) throw new Error(`expected a file of ${domain}, got ${files().join(', ')}`)
  return found
}

describe('a record in a folder', () => {
  it('that was never written is empty, and looking makes no file', () => {
    const store = open()
    expect(store.load()).toEqual(new Map())
    expect(store.otherAddresses()).toEqual([])
    expect(store.loadCalls()).toEqual([])
    expect(files()).toEqual([])
  })

  it('gives back what was saved', () => {
    const items = {
      timeout: item('10', { returned: { time: '11' }, templates: { 'scrypt:1': 'name' } }),
      https: item('0', { status: 'in-doubt', candidates: [{ b: 1, a: [] }, { a: null }], unknown: true }),
      ip_black_list: item('0', { status: 'unset', candidates: [] }),
    }
    open().save(of('a.example.com', items))
    expect(open().load()).toEqual(of('a.example.com', items))
  })

  it('changes the named domains and no others; one without items leaves it', () => {
    const store = open()
    store.save(of('a.example.com', { timeout: item('1') }))
    store.save(of('b.example.com', { timeout: item('2') }))
    const before = readFileSync(fileOf('a.example.com'), 'utf8')
    store.save(of('b.example.com', { rate_limit: item('3') }))
    expect(readFileSync(fileOf('a.example.com'), 'utf8')).toBe(before)
    expect([...(store.load().get('b.example.com') ?? [])].map(([name]) => name)).toEqual(['rate_limit'])
    store.save(of('b.example.com', {}))
    store.save(of('never.example.com', {}))
    expect([...store.load().keys()]).toEqual(['a.example.com'])
  })

  it('writes the same bytes whatever the order of items and keys', () => {
    open().save(of('a.example.com', { b: item('1', { candidates: [{ y: 1, x: 2 }] }), a: item('2') }))
    const text = readFileSync(fileOf('a.example.com'), 'utf8')
    open().save(of('a.example.com', { a: item('2'), b: item('1', { candidates: [{ x: 2, y: 1 }] }) }))
    expect(readFileSync(fileOf('a.example.com'), 'utf8')).toBe(text)
    expect(text.split('\n').filter((line) => line.includes('"candidates"'))).toHaveLength(2)
  })

  it('takes every name of a domain that there is', () => {
    const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`
    expect(long).toHaveLength(253)
    for (const domain of ['xn--bcher-kva.example.com', '_dmarc.example.com', 'con.example', 'address.json', long]) {
      open().save(of(domain, { timeout: item('1') }))
      expect(open().load().get(domain)).toEqual(new Map([['timeout', item('1')]]))
    }
  })

  it('is readable by its owner only', () => {
    const store = open()
    store.save(of('a.example.com', { timeout: item('1') }))
    store.saveCalls([1, 2])
    for (const path of files()) {
      expect(statSync(path).mode & 0o777, path).toBe(0o600)
      expect(statSync(dirname(path)).mode & 0o777, dirname(path)).toBe(0o700)
    }
  })

  it('leaves no temporary file behind, and reads none that a dead process left', () => {
    const store = open()
    store.save(of('a.example.com', { timeout: item('1') }))
    expect(files().filter((path) => path.endsWith('.tmp'))).toEqual([])
    const path = fileOf('a.example.com')
    for (const name of ['a.example.com.json.99999.tmp', 'b.example.com.json.1.tmp', '.a.example.com.json.swp']) {
      writeFileSync(join(dirname(path), name), '{"format": "edgewise.rec')
    }
    writeFileSync(`${path}.${process.pid}.tmp`, 'left by a process of the same number')
    expect([...store.load().keys()]).toEqual(['a.example.com'])
    store.save(of('a.example.com', { timeout: item('2') }))
    expect(store.load().get('a.example.com')?.get('timeout')).toEqual(item('2'))
  })
})

describe('a record of another', () => {
  it('id or address is another record', () => {
    const keys: [string, string][] = [
      ['staging', 'https://api.example.net'],
      ['production', 'https://api.example.net'],
      ['production', 'http://api.example.net'],
      ['production', 'https://api.example.net:8443'],
      ['production', 'https://api.example.net/base'],
      ['production', 'https://api.example.net_base'],
      ['production', 'https://API.example.net'],
      ['production', 'emulator'],
      ['production', `https://${'a'.repeat(70)}.example.net`],
      ['production', `https://${'a'.repeat(70)}.example.com`],
      ['budget', 'https://api.example.net'],
      ['..x', 'https://[::1]:8080/a/../b'],
    ]
    for (const [i, [id, address]] of keys.entries()) open(id, address).save(of('a.example.com', { timeout: item(String(i)) }))
    for (const [i, [id, address]] of keys.entries()) {
      expect(open(id, address).load().get('a.example.com')?.get('timeout'), `${id} ${address}`).toEqual(item(String(i)))
    }
    for (const path of files()) expect(path.startsWith(folder)).toBe(true)
  })

  it('address is told, of the same id only', () => {
    open('one', 'emulator').save(of('a.example.com', { timeout: item('1') }))
    open('two', 'https://two.example.net').save(of('a.example.com', { timeout: item('1') }))
    expect(open('one', 'https://api.example.net').otherAddresses()).toEqual(['emulator'])
    expect(open('one', 'emulator').otherAddresses()).toEqual([])
    expect(open('three', 'emulator').otherAddresses()).toEqual([])
  })
})

describe('a damaged record', () => {
  const damages: [string, (text: string) => string][] = [
    ['empty', () => ''],
    ['truncated', (text) => text.slice(0, text.length / 2)],
    ['cut by one character', (text) => text.trimEnd().slice(0, -1)],
    ['with a merge conflict', (text) => `<<<<<<< ours\n${text}=======\n${text}>>>>>>> theirs\n`],
    ['a list', () => '[]'],
    ['null', () => 'null'],
    ['without a format', (text) => text.replace(/"format".*\n/, '')],
    ['of a newer version', (text) => text.replace('edgewise.record/1', 'edgewise.record/2')],
    ['of another format', (text) => text.replace('edgewise.record/1', 'edgewise.plan/1')],
    ['without a domain', (text) => text.replace(/"domain".*\n/, '')],
    ['of another domain', (text) => text.replace('a.example.com', 'b.example.com')],
    ['without items', (text) => text.replace('"items"', '"item"')],
    ['with items in a list', () => '{"format": "edgewise.record/1", "domain": "a.example.com", "items": []}'],
    ['with an unknown status', (text) => text.replace('"confirmed"', '"probably"')],
    ['confirmed with two candidates', (text) => text.replace('"candidates":[', '"candidates":[1,')],
    ['confirmed without a candidate', (text) => text.replace(/"candidates":\[[^\]]*\]/, '"candidates":[]')],
    ['in doubt between nothing', (text) => text.replace(/"candidates":\[[^\]]*\]/, '"candidates":[]').replace('"confirmed"', '"in-doubt"')],
    ['without candidates', (text) => text.replace('"candidates"', '"candidate"')],
    ['without a time', (text) => text.replace(/"at":"[^"]*"/, '"at":null')],
    ['with a time that is none', (text) => text.replace(/"at":"[^"]*"/, '"at":"yesterday"')],
    ['without an apply', (text) => text.replace('"apply"', '"applied"')],
    ['of unknown origin', (text) => text.replace('"origin":"write"', '"origin":"guess"')],
  ]

  it.each(damages)('%s is named with its path, and nothing is written', (_how, damage) => {
    const store = open()
    store.save(of('a.example.com', { timeout: item('1') }))
    store.save(of('z.example.com', { timeout: item('2') }))
    const path = fileOf('a.example.com')
    const damaged = damage(readFileSync(path, 'utf8'))
    writeFileSync(path, damaged)
    const before = files().map((file) => [file, readFileSync(file, 'utf8')])
    let thrown: EdgewiseError | undefined
    try {
      store.load()
    } catch (error) {
      thrown = error as EdgewiseError
    }
    expect(thrown?.code).toBe('record-damaged')
    expect(thrown?.message).toContain(path)
    expect(thrown?.hint).not.toBe('')
    expect(files().map((file) => [file, readFileSync(file, 'utf8')])).toEqual(before)
  })

  it('of a newer version says that a newer edgewise wrote it', () => {
    const store = open()
    store.save(of('a.example.com', { timeout: item('1') }))
    const path = fileOf('a.example.com')
    writeFileSync(path, readFileSync(path, 'utf8').replace('edgewise.record/1', 'edgewise.record/12'))
    expect(() => store.load()).toThrow(/edgewise\.record\/12.*newer/)
  })
})

describe('the calls of an account', () => {
  it('are kept by address and account, whatever the id', () => {
    open('one').saveCalls([1, 2, 3])
    expect(open('two').loadCalls()).toEqual([1, 2, 3])
    expect(open('one', 'emulator').loadCalls()).toEqual([])
    expect(open('one', 'https://api.example.net', 'other').loadCalls()).toEqual([])
    for (const [i, account] of ['a@b', 'a_b', '..', 'A', 'x'.repeat(128)].entries()) open('one', 'emulator', account).saveCalls([i])
    for (const [i, account] of ['a@b', 'a_b', '..', 'A', 'x'.repeat(128)].entries())
      expect(open('two', 'emulator', account).loadCalls()).toEqual([i])
  })

  it('that can not be read count as none, and can be saved again', () => {
    open().saveCalls([1])
    const [path = ''] = files()
    for (const text of ['', '{', '[]', 'null', '{"calls": 5}', '{"calls": ["x", null]}']) {
      writeFileSync(path, text)
      expect(open().loadCalls()).toEqual([])
    }
    open().saveCalls([7])
    expect(open().loadCalls()).toEqual([7])
  })

  it('are no record', () => {
    open().saveCalls([1])
    expect(open().load()).toEqual(new Map())
    expect(open().otherAddresses()).toEqual([])
    mkdirSync(join(folder, 'default', 'stray'), { recursive: true })
    expect(open().otherAddresses()).toEqual([])
    expect(existsSync(join(folder, 'budget'))).toBe(true)
  })
})
