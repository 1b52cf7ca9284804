import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listSchemaErrors } from '../report/output-schema.ts'
import { place, setWorkspace } from './stage.ts'
import { itLong } from '../runs.ts'

setWorkspace()

const text = (path: string) => readFileSync(join(place.root, path), 'utf8')
const rough = '# a\nconfig:\n    timeout: { time: 60 }\ndomain: a.example.com\n'

it('formats every file of the workspace; --check only lists them', async () => {
  await place.cli('fmt')
  place
    .write('domains/a.yaml', rough)
    .write('profiles/p.yaml', 'config: {}\nprofile: p\n')
    .write('elsewhere.yaml', rough)
  const checked = await place.cli('fmt', '--check')
  expect([checked.code, checked.out]).toEqual([
    2,
    'not formatted  domains/a.yaml\nnot formatted  profiles/p.yaml\n',
  ])
  expect(text('domains/a.yaml')).toBe(rough)
  const json = await place.json('fmt', '--check')
  expect(listSchemaErrors('fmt', json)).toEqual([])
  expect(json).toMatchObject({ check: true, changed: ['domains/a.yaml', 'profiles/p.yaml'] })
  expect(await place.cli('fmt')).toMatchObject({
    code: 0,
    out: 'formatted  domains/a.yaml\nformatted  profiles/p.yaml\n',
  })
  expect(text('domains/a.yaml')).toBe(
    '# a\ndomain: a.example.com\nconfig:\n  timeout: {time: 60}\n',
  )
  expect(text('elsewhere.yaml')).toBe(rough)
  expect(await place.cli('fmt', '--check')).toMatchObject({ code: 0, out: '' })
})

it('reports and skips an unreadable file, and formats the others', async () => {
  await place.cli('fmt')
  place.write('domains/a.yaml', rough).write('domains/b.yaml', 'domain: [')
  const { code, out, err } = await place.cli('fmt')
  expect([code, out, err]).toEqual([
    1,
    'formatted  domains/a.yaml\n',
    expect.stringContaining('domains/b.yaml:1:'),
  ])
  expect(text('domains/b.yaml')).toBe('domain: [')
})

it('formats invalid manifests too', async () => {
  await place.cli('fmt')
  place.write('domains/a.yaml', 'config: {nonsense: 1}\ndomain: "${nonsense}"\n')
  expect((await place.cli('fmt')).code).toBe(0)
  expect(text('domains/a.yaml')).toBe('domain: "${nonsense}"\nconfig: {nonsense: 1}\n')
})

it('removes a byte order mark only with another change', async () => {
  await place.cli('fmt')
  place.write('domains/a.yaml', '\ufeffdomain: a.example.com\nconfig: {}\n')
  expect((await place.cli('fmt', '--check')).code).toBe(0)
  place.write('domains/a.yaml', '\ufeffconfig: {}\ndomain: a.example.com\n')
  expect((await place.cli('fmt')).code).toBe(0)
  expect(text('domains/a.yaml')).toBe('domain: a.example.com\nconfig: {}\n')
})

it('keeps a file that can not be written, and names what was formatted and what not', async () => {
  await place.cli('fmt')
  for (const name of ['a', 'b', 'c']) place.write(`domains/${name}.yaml`, rough)
  // The draft of the second file is in the way.
  place.write(`domains/b.yaml.test-${process.pid}.tmp`, '')
  expect(await place.json('fmt')).toMatchObject({
    code: 'usage',
    message:
      `${join(place.root, 'domains/b.yaml')} can't be written (EEXIST). ` +
      'Formatted: domains/a.yaml. Not formatted: domains/b.yaml, domains/c.yaml',
  })
  expect(text('domains/a.yaml')).not.toBe(rough)
  expect([text('domains/b.yaml'), text('domains/c.yaml')]).toEqual([rough, rough])
})

it('keeps the mode of a file, and a link', async () => {
  await place.cli('fmt')
  place.write('elsewhere.yaml', rough).write('domains/.keep', '')
  chmodSync(join(place.root, 'elsewhere.yaml'), 0o640)
  symlinkSync('../elsewhere.yaml', join(place.root, 'domains/a.yaml'))
  expect((await place.cli('fmt')).out).toBe('formatted  domains/a.yaml\n')
  expect(lstatSync(join(place.root, 'domains/a.yaml')).isSymbolicLink()).toBe(true)
  expect(statSync(join(place.root, 'elsewhere.yaml')).mode & 0o777).toBe(0o640)
  expect(text('elsewhere.yaml')).not.toBe(rough)
})

describe('the schema for editors', () => {
  const line = (up = '') => `# yaml-language-server: $schema=${up}edgewise.schema.json\n`
  const manifest = 'domain: a.example.com\nconfig: {}\n'

  it('adds no line to a workspace without the schema', async () => {
    await place.cli('fmt')
    place.write('domains/a.yaml', manifest)
    expect(await place.cli('fmt', '--check')).toMatchObject({ code: 0, out: '' })
    await place.cli('fmt')
    expect(text('domains/a.yaml')).toBe(manifest)
  })

  it('gets a line in every file that has none', async () => {
    await place.cli('fmt')
    const windows = manifest.replaceAll('\n', '\r\n')
    const own = `# yaml-language-server: $schema=https://example.com/mine.json\n${manifest}`
    place
      .write('edgewise.schema.json', '{}')
      .write('domains/a.yaml', manifest)
      .write('domains/eu/b.yaml', `# about b\n\n${manifest}---\n${manifest}`)
      .write('domains/c.yaml', windows)
      .write('domains/own.yaml', own)
      .write('domains/empty.yaml', '')
      .write('profiles/p.yaml', 'profile: p\nconfig: {}\n')
    const checked = await place.json('fmt', '--check')
    expect(checked['changed']).toEqual([
      'edgewise.yaml',
      'domains/a.yaml',
      'domains/c.yaml',
      'domains/eu/b.yaml',
      'profiles/p.yaml',
    ])
    expect((await place.cli('fmt')).code).toBe(0)
    expect(text('domains/a.yaml')).toBe(line('../') + manifest)
    expect(text('domains/eu/b.yaml')).toBe(
      `${line('../../')}# about b\n\n${manifest}---\n${manifest}`,
    )
    expect(text('domains/c.yaml')).toBe(line('../').replace('\n', '\r\n') + windows)
    expect([text('domains/own.yaml'), text('domains/empty.yaml')]).toEqual([own, ''])
    expect(text('edgewise.yaml').startsWith(line())).toBe(true)
    expect(text('edgewise.schema.json')).toBe('{}')
    expect(await place.cli('fmt', '--check')).toMatchObject({ code: 0, out: '' })
  })

  it.each([
    ['another file', 'outside.txt'],
    ['no file', 'nowhere/edgewise.schema.json'],
  ])('is not written through a link to %s', async (_, target) => {
    place.write('outside.txt', 'precious')
    symlinkSync(target, join(place.root, 'edgewise.schema.json'))
    expect(await place.cli('fmt', '--schema')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is a symbolic link') as string,
    })
    expect(text('outside.txt')).toBe('precious')
  })

  it('is written, and brought up to date, by --schema', async () => {
    await place.cli('fmt')
    place.write('domains/a.yaml', line('../') + manifest)
    expect((await place.cli('fmt', '--schema', '--check')).code).toBe(2)
    const written = await place.cli('fmt', '--schema')
    expect([written.code, written.out]).toEqual([
      0,
      'formatted  edgewise.schema.json\nformatted  edgewise.yaml\n',
    ])
    const current = text('edgewise.schema.json')
    expect(Object.keys(JSON.parse(current) as object)).toContain('$defs')
    place.write('edgewise.schema.json', '{}')
    expect(await place.cli('fmt', '--check')).toMatchObject({ code: 0 })
    await place.cli('fmt', '--schema')
    expect(text('edgewise.schema.json')).toBe(current)
    expect((await place.cli('fmt', '--schema', '--check')).code).toBe(0)
  })

  itLong('is the line of written manifests too', async () => {
    await place.cli('fmt', '--schema')
    place.write('live.json', JSON.stringify({ 'b.example.com': { timeout: { time: '60' } } }))
    expect((await place.cli('import', 'live.json', '--write-manifests')).code).toBe(0)
    expect(text('domains/b.example.com.yaml')).toBe(
      `${line('../')}domain: b.example.com\nconfig:\n  timeout:\n    time: "60"\n`,
    )
    expect((await place.cli('fmt', '--check')).code).toBe(0)
  })
})
