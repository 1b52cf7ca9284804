import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { open } from '../../src/operations/runtime/open.ts'
import { Place } from './cli.ts'
import { place, setWorkspace } from './stage.ts'

const a = 'a.example.com'
const b = 'b.example.com'
setWorkspace(() =>
  new Place('emulator')
    .manifest(a, { timeout: { time: 60 } })
    .manifest(b, { https: { cert_id: 1 } }),
)

/** Runs a command that must fail; returns its message in one line. */
async function fail(...args: string[]): Promise<string> {
  const { code, out, err } = await place.cli(...args)
  expect([args, code, out]).toEqual([args, 1, ''])
  return err.replace(/\s+/g, ' ')
}

describe('a target or an item that matches nothing', () => {
  it.each([['plan'], ['apply', '--yes']])(
    'is refused by %s, also beside others',
    async (...args) => {
      const target = ['--target', 'a.*', '--target', 'nobody.*', '--target', 'x.example.com']
      expect(await fail(...args, ...target)).toContain(
        'no managed domain matches "nobody.*", "x.example.com"',
      )
      expect(
        await fail(...args, '--item', 'https', '--item', 'extend', '--item', 'origin'),
      ).toContain('no selected domain has the items "extend", "origin"')
      expect(await fail(...args, '--target', a, '--item', 'https')).toContain(
        'no selected domain has the item "https"',
      )
    },
  )

  it.each(['plan', 'apply', 'drift'])('%s: a comma list is explained', async (command) => {
    expect(await fail(command, '--target', `${a},x.example.com`)).toContain(
      `matches "${a},x.example.com" Globs match whole domain names, e.g. --target ` +
        '"*.example.com". Repeat --target for several.',
    )
  })

  it('is refused by rollback', async () => {
    await place.settle()
    expect(await fail('rollback', '--yes', '--target', 'a.*', '--target', 'c.*')).toMatch(
      /changed no domain that matches "c\.\*"/,
    )
    expect(await fail('rollback', '--yes', '--item', 'origin', '--item', 'timeout')).toMatch(
      /apply \S+ did not change the item "origin" of a selected domain/,
    )
    expect(await fail('rollback', '--yes', '--target', a, '--item', 'https')).toContain(
      'did not change the item "https"',
    )
  })

  it('may be in state only', async () => {
    await place.settle()
    rmSync(join(place.root, 'domains', `${a}.yaml`))
    expect((await place.cli('plan', '--target', a, '--item', 'timeout')).code).toBe(0)
  })
})

describe('an observation without a managed item', () => {
  it.each([
    ['no domain', '{}', 'the observation has no domain'],
    ['foreign domains', '{"c.example.com": {"timeout": {"time": 5}}}', 'c.example.com'],
    ['a domain without items', `{"${a}": {}}`, a],
    ['unmanaged items', `{"${a}": {"https": {"cert_id": 1}}}`, a],
  ])('is refused by drift: %s', async (_kind, observed, part) => {
    await place.settle()
    place.write('live.json', observed)
    for (const more of [[], ['--repair', '--yes']]) {
      const message = await fail('drift', '--observed', 'live.json', ...more)
      expect(message).toContain('none of the compared items was observed')
      expect(message).toContain(part)
    }
  })

  it('is no error if nothing is managed', async () => {
    place.manifest(a, {}).manifest(b, {}).write('live.json', '{}')
    expect((await place.cli('drift', '--observed', 'live.json')).code).toBe(0)
  })
})

describe('an import', () => {
  it('of files without an item is refused', async () => {
    place.write('empty.json', '{}').write('none.json', `{"${a}": {}}`)
    const message = await fail('import', 'empty.json', 'none.json')
    expect(message).toContain('2 problems; nothing was recorded')
    for (const name of ['empty', 'none'])
      expect(message).toMatch(new RegExp(`${name}.json:1:1 error .*at least one item, got none`))
    place.write('live.json', `{"${a}": {"timeout": {"time": 60}}}`)
    const { code, out, err } = await place.cli('import', 'empty.json', 'live.json')
    expect([code, out]).toEqual([0, 'Recorded 1 item of 1 domain.\n'])
    expect(err.replace(/\s+/g, ' ')).toMatch(/no item in empty\.json/)
  })
})

describe('fmt without a manifest or profile', () => {
  it('fails with --check, and notes it otherwise', async () => {
    rmSync(join(place.root, 'domains'), { recursive: true })
    await place.cli('fmt')
    expect(await fail('fmt', '--check')).toContain(
      'nothing but edgewise.yaml to format: no file matches domains/**/*.{yaml,yml}',
    )
    const { code, err } = await place.cli('fmt')
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining('nothing but edgewise.yaml to format'),
    ])
  })

  it('counts the files otherwise', async () => {
    await place.cli('fmt')
    expect((await place.cli('fmt', '--check')).err).toBe('Checked 3 files.\n')
  })
})

describe('an edgewise.yaml with another name', () => {
  it('is named with the advice to rename it', async () => {
    renameSync(join(place.root, 'edgewise.yaml'), join(place.root, 'edgewise.yml'))
    for (const args of [['validate'], ['plan', '-C', 'domains']]) {
      const message = await fail(...args)
      expect(message).toContain('no edgewise.yaml')
      expect(message).toContain(`but there is ${join(place.root, 'edgewise.yml')}`)
      expect(message).toContain('Rename it to edgewise.yaml.')
      expect(message).not.toContain('init')
    }
    expect(() => open(place.root)).toThrow('but there is')
  })

  it('is refused below another workspace, by commands and the library', async () => {
    place.write('eu/edgewise.yml', 'version: 1\n')
    for (const args of [['validate'], ['plan'], ['apply', '--yes']])
      expect(await fail(...args, '-C', 'eu')).toContain(
        `there is ${join(place.root, 'eu/edgewise.yml')}, which is no name of a workspace file, ` +
          `below ${join(place.root, 'edgewise.yaml')}`,
      )
    expect(() => open(join(place.root, 'eu'))).toThrow('eu/edgewise.yml')
  })
})
