import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { open } from '../../src/operations/runtime/open.ts'
import { Place } from './cli.ts'
import { itLong } from '../runs.ts'

let place: Place
beforeEach(() => {
  place = new Place('emulator')
    .write('domains/a.yaml', 'domain: a.example.com\nconfig: {timeout: {time: 60}}\n')
    .write(
      'domains/eu/b.yml',
      'domains: [b.example.com, c.example.com]\nprofiles: [outer]\n---\n' +
        'domain: d.example.com\nconfig: {}\n',
    )
    .write('profiles/p.yaml', 'profile: inner\nconfig: {https: {cert_id: 1}}\n')
    .write('profiles/q.yaml', 'profile: outer\nprofiles: [inner]\n')
})
afterEach(() => place.remove())

/** Returns the message on stderr in one line. */
const message = (err: string) => err.replace(/\s+/g, ' ')

describe('validate', () => {
  it('counts what it checked, on stderr for machine formats', async () => {
    expect((await place.cli('validate')).out).toBe(
      'Valid: 4 domains, 3 items, 3 manifests, 2 profiles in 5 files.\n',
    )
    for (const format of ['json', 'github', 'sarif']) {
      const { out, err } = await place.cli('validate', '--format', format)
      expect(out).not.toContain('manifests')
      expect(err).toBe('Checked 4 domains, 3 items, 3 manifests, 2 profiles in 5 files.\n')
    }
    place.write('domains/a.yaml', 'domain: a.example.com\nconfg: {}\n')
    expect((await place.cli('validate')).err).toContain('Checked 4 domains, 2 items, 3 manifests')
  })

  it.each([
    ['domains/a.yaml', '1 domain, 1 item, 1 manifest, 0 profiles in 1 file'],
    ['domains', '4 domains, 3 items, 3 manifests, 0 profiles in 2 files'],
    ['./domains/eu/', '3 domains, 2 items, 2 manifests, 0 profiles in 1 file'],
    ['domains/**/*.yml', '3 domains, 2 items, 2 manifests, 0 profiles in 1 file'],
    ['domains/{a,z}.yaml', '1 domain, 1 item, 1 manifest, 0 profiles in 1 file'],
    ['edgewise.yaml', '0 domains, 0 items, 0 manifests, 0 profiles in 1 file'],
    ['.', '4 domains, 3 items, 3 manifests, 2 profiles in 5 files'],
    // A profile, and the manifests that use it.
    ['profiles/p.yaml', '3 domains, 2 items, 2 manifests, 1 profile in 2 files'],
  ])('%s is %s', async (path, counts) => {
    expect(await place.cli('validate', path)).toMatchObject({ code: 0, out: `Valid: ${counts}.\n` })
  })

  it('warns of globs of guards and rollout that match no domain', async () => {
    place.write(
      'edgewise.yaml',
      'version: 1\nguards: {protect: ["A.*", b.exmple.com, "!z.*"]}\nrollout: {first: [x.*]}\n',
    )
    const { code, out } = await place.cli('validate')
    expect([code, out.match(/^\S+(?=  warning)/gm)]).toEqual([
      0,
      ['edgewise.yaml:2:27', 'edgewise.yaml:2:41', 'edgewise.yaml:3:19'],
    ])
    expect(message(out)).toContain('no manifest declares a domain that matches "b.exmple.com".')
    place.write('domains/a.yaml', 'domain: a.example.com\nconfg: {}\n')
    expect((await place.cli('validate')).out).not.toContain('no manifest declares')
  })

  it('resolves paths from the current folder, also with -C', async () => {
    place.cwd = 'domains/eu'
    const counts = 'Valid: 1 domain, 1 item'
    expect((await place.cli('validate', '../a.yaml')).out).toContain(counts)
    expect((await place.cli('validate', '../*.yaml')).out).toContain(counts)
    expect((await place.cli('validate', 'domains/a.yaml')).code).toBe(1)
    place.cwd = '..'
    const home = basename(place.root)
    expect((await place.cli('validate', '-C', home, `${home}/domains/a.yaml`)).out).toContain(
      counts,
    )
    expect((await place.cli('validate', '-C', home, `${home}/d*/a.yaml`)).out).toContain(counts)
    expect((await place.cli('validate', '-C', home, 'domains/a.yaml')).code).toBe(1)
    symlinkSync(place.root, `${place.root}-link`)
    const linked = await place.cli('validate', '-C', `${home}-link`, `${home}/domains/a.yaml`)
    rmSync(`${place.root}-link`)
    expect(linked.out).toContain(counts)
  })

  it('fails and names each path that matches nothing', async () => {
    mkdirSync(join(place.root, 'empty'))
    place.write('domains/e.YAML', 'domain: e.example.com\n').write('README.md', '')
    const paths = [
      'domains/none.yaml',
      'empty',
      'README.md',
      'x/*.yaml',
      'domains/e.YAML',
      '',
      '..',
    ]
    const { code, out, err } = await place.cli('validate', 'domains/a.yaml', ...paths)
    expect([code, out]).toEqual([1, ''])
    for (const part of [
      'domains/none.yaml: no such file or folder',
      'empty: no file of the workspace below this folder',
      'README.md: no glob of edgewise.yaml matches this file',
      'x/*.yaml: this glob matches no file of the workspace',
      'domains/e.YAML: no glob of edgewise.yaml matches this file',
      '"": an empty path',
      '..: outside the workspace',
    ])
      expect(message(err)).toContain(part)
    expect(message(err)).not.toContain('a.yaml:')
    expect(await place.json('validate', 'none')).toMatchObject({
      format: 'edgewise.error/1',
      code: 'usage',
    })
  })

  it('reports the mistake of a profile for each manifest that uses it', async () => {
    place.write('profiles/p.yaml', 'profile: inner\nconfig: {https: {cert_id: x}}\n')
    for (const path of ['domains/eu/b.yml', 'profiles/p.yaml', 'profiles']) {
      const { code, out } = await place.cli('validate', path)
      expect([path, code, out.includes('profiles/p.yaml:2')]).toEqual([path, 1, true])
    }
    expect((await place.cli('validate', 'domains/a.yaml')).code).toBe(0)
    place.write('profiles/p.yaml', 'profile: inner\n')
    place.write('edgewise.yaml', `${place.read('edgewise.yaml')}\ndefaults: {htps: {}}\n`)
    expect((await place.cli('validate', 'domains/a.yaml')).out).toContain('edgewise.yaml:')
  })

  it('checks the manifests that use a named profile', async () => {
    place.write('domains/eu/b.yml', 'domain: b.example.com\nprofiles: [outer]\nx: 1\n')
    expect((await place.cli('validate', 'profiles/p.yaml')).out).toContain('domains/eu/b.yml:3:1')
    expect((await place.cli('validate', 'domains/a.yaml')).code).toBe(0)
  })
})

describe('a token that is written out in edgewise.yaml', () => {
  beforeEach(() => {
    place.write('edgewise.yaml', 'version: 1\nservice:\n  token:\n    abc-5ecret\n')
  })

  it.each(['text', 'json', 'github', 'sarif'])('is an error in %s, without it', async (format) => {
    const { code, out } = await place.cli('validate', '--format', format)
    expect(code).toBe(1)
    const isMachine = format === 'json' || format === 'sarif'
    expect(out).toContain(isMachine ? 'token-literal' : 'Token in plain text')
    expect(out).toContain('${env:EDGEWISE_TOKEN}')
    expect(out).not.toContain('5ecret')
  })

  itLong('is refused by plan and apply', async () => {
    for (const args of [['plan'], ['apply', '--yes']]) {
      const { code, err } = await place.cli(...args)
      expect([code, err]).toEqual([1, expect.stringContaining('Token in plain text')])
      expect(err).not.toContain('5ecret')
    }
  })
})

describe('an emptied file', () => {
  it.each([
    ['no bytes', ''],
    ['comments', '# domain: a.example.com\n# config: {}\n'],
    ['only ---', '---\n---\n'],
  ])('with %s is an error, also of plan and apply', async (_what, text) => {
    place.write('domains/a.yaml', text).write('profiles/r.yaml', text)
    const detail = 'no manifest or profile in this file'
    for (const args of [['validate'], ['validate', 'domains/a.yaml', 'profiles/r.yaml']]) {
      const { code, out } = await place.cli(...args)
      expect([args, code]).toEqual([args, 1])
      expect(message(out)).toContain('domains/a.yaml:1:1')
      expect(message(out)).toContain('profiles/r.yaml:1:1')
      expect(message(out).split(detail)).toHaveLength(3)
    }
    for (const args of [['plan'], ['apply', '--yes']]) {
      const { code, out, err } = await place.cli(...args)
      expect([args, code, out]).toEqual([args, 1, ''])
      expect(message(err)).toContain(detail)
    }
    await expect(open(place.root).plan()).rejects.toMatchObject({ code: 'invalid' })
  })

  it('is none if another document of the file is not empty', async () => {
    place.write('domains/a.yaml', '---\ndomain: a.example.com\nconfig: {}\n---\n# end\n---\n')
    expect((await place.cli('validate', 'domains/a.yaml')).code).toBe(0)
  })
})

describe('a workspace without a manifest', () => {
  beforeEach(() => rmSync(join(place.root, 'domains'), { recursive: true }))
  const searched = 'domains/**/*.{yaml,yml}'

  it('is not valid, unless --allow-empty is given', async () => {
    const { code, out } = await place.cli('validate')
    expect([code, message(out)]).toEqual([
      1,
      expect.stringMatching(/^edgewise.yaml:1:1 error No manifest .*{yaml,yml}/),
    ])
    expect(await place.json('validate')).toMatchObject({
      valid: false,
      diagnostics: [{ code: 'workspace-invalid', file: 'edgewise.yaml', line: 1 }],
    })
    expect((await place.cli('validate', 'profiles')).code).toBe(1)
    expect(await place.cli('validate', '--allow-empty')).toMatchObject({
      code: 0,
      out: 'Valid: 0 domains, 0 items, 0 manifests, 2 profiles in 3 files.\n',
    })
    place.write('edgewise.yaml', `${place.read('edgewise.yaml')}\nmanifests: [cdn/*.yaml]\n`)
    const [found] = (await place.json('validate'))['diagnostics'] as { line: number }[]
    expect(found?.line).toBe(
      place.read('edgewise.yaml').split('\n').indexOf('manifests: [cdn/*.yaml]') + 1,
    )
  })

  it('is refused by every command that compares manifests with state', async () => {
    for (const args of [['plan'], ['apply', '--yes'], ['drift'], ['drift', '--repair', '--yes']]) {
      const { code, out, err } = await place.cli(...args)
      expect([args, code, out]).toEqual([args, 1, ''])
      expect(message(err)).toContain(searched)
      expect(message(err)).toContain('"config: {}"')
    }
    const library = open(place.root, { outside: { env: place.env } })
    for (const run of [library.plan(), library.apply(), library.drift(), library.repair()])
      await expect(run).rejects.toMatchObject({ code: 'invalid' })
    expect(await library.validate()).toHaveLength(1)
    expect(await library.validate({ allowEmpty: true })).toEqual([])
  })

  it('releases nothing; an empty manifest and "state forget" do', async () => {
    const name = 'a.example.com'
    place.manifest(name, { timeout: { time: 60 } })
    await place.settle()
    rmSync(join(place.root, 'domains'), { recursive: true })
    expect((await place.cli('apply', '--yes')).code).toBe(1)
    expect((await place.cli('state', 'list')).out).toContain(name)
    place.manifest(name, {})
    expect((await place.cli('plan')).out).toContain('timeout')
    expect((await place.cli('state', 'forget', name, '--yes')).code).toBe(0)
    expect((await place.cli('state', 'list')).out).toContain('State is empty')
  })

  it('is a start for an import that writes manifests', async () => {
    place.write('live.json', '{"a.example.com": {"timeout": {"time": 60}}}')
    expect((await place.cli('import', 'live.json', '--write-manifests')).code).toBe(0)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })
})
