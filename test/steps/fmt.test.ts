import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { listSchemaErrors } from '../report/output-schema.ts'
import { Place } from './cli.ts'

let place: Place
beforeEach(() => {
  place = new Place('emulator')
})
afterEach(() => place.remove())

const text = (path: string) => readFileSync(join(place.root, path), 'utf8')
const rough = '# a\nconfig:\n    timeout: { time: 60 }\ndomain: a.example.com\n'

it('formats every file of the workspace once; --check only says which', async () => {
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

it('a file that can not be read is told and left alone, and the others are formatted', async () => {
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

it('manifests with errors of their own are formatted like any other', async () => {
  await place.cli('fmt')
  place.write('domains/a.yaml', 'config: {nonsense: 1}\ndomain: "${nonsense}"\n')
  expect((await place.cli('fmt')).code).toBe(0)
  expect(text('domains/a.yaml')).toBe('domain: "${nonsense}"\nconfig: {nonsense: 1}\n')
})

it('a byte order mark alone is no reason, and goes with the next one', async () => {
  await place.cli('fmt')
  place.write('domains/a.yaml', '\ufeffdomain: a.example.com\nconfig: {}\n')
  expect((await place.cli('fmt', '--check')).code).toBe(0)
  place.write('domains/a.yaml', '\ufeffconfig: {}\ndomain: a.example.com\n')
  expect((await place.cli('fmt')).code).toBe(0)
  expect(text('domains/a.yaml')).toBe('domain: a.example.com\nconfig: {}\n')
})
