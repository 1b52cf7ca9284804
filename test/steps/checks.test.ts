import { describe, expect, it } from 'vitest'
import { adjustableCodes } from '../../src/core/model/problem.ts'
import { workspaceSchema } from '../../src/manifest/workspace-file/generated/file-schemas.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { place, setWorkspace } from './stage.ts'
import { itLong } from '../runs.ts'

setWorkspace()

const www = 'www.example.com'
const origin = 'origin: {default_master: 192.0.2.10}'
const newOrigin = 'new_origin: [{origin: 192.0.2.1, level: 20}]'

/** Writes a manifest with a warning in line 4, and a comment above it. */
function write(comment = '# comment', path = 'domains/a.yaml', end = '\n'): void {
  const lines = [`domain: ${www}`, 'config:', `  ${comment}`, `  ${origin}`, `  ${newOrigin}`, '']
  place.write(path, lines.join(end))
}

const allow = (code = 'item-conflict') => `# edgewise: allow ${code} until 2099-12-31: "moving"`

/** Lists the findings of `validate --json` as `severity code line`. */
async function list(...args: string[]): Promise<string[]> {
  const { diagnostics } = await place.json('validate', ...args)
  return (diagnostics as JsonObject[]).map((each) =>
    [each['severity'], each['code'], each['line']].join(' '),
  )
}

describe('the severity of a finding', () => {
  it('is that of its code', async () => {
    write()
    expect(await list()).toEqual(['warning item-conflict 4'])
  })

  it.each([
    ['error', 1],
    ['note', 0],
    ['warning', 0],
  ])('is "%s" by the key "checks"', async (level, code) => {
    write()
    place.configure(`checks: {item-conflict: ${level}}`)
    expect(await list()).toEqual([`${level} item-conflict 4`])
    const validated = await place.cli('validate')
    expect([validated.code, validated.out]).toEqual([code, expect.stringContaining(`  ${level}  `)])
    expect((await place.cli('plan')).code).toBe(code)
    expect((await place.cli('apply', '--yes')).code).toBe(code)
  })

  it('is none with "off"', async () => {
    write()
    place.configure('checks: {item-conflict: off}')
    expect(await list()).toEqual([])
    expect((await place.cli('plan')).err).not.toContain('Conflicting items')
  })

  it.each(['validate', 'plan'])('is that of -W and -E before that of the key: %s', async (name) => {
    write()
    expect((await place.cli(name, '-E', 'item-conflict')).code).toBe(1)
    place.configure('checks: {item-conflict: error}')
    expect((await place.cli(name, '-W', 'secret-weak', '-W', 'item-conflict')).code).toBe(0)
    place
      .configure('')
      .write('edgewise.yaml', place.read('edgewise.yaml').replace('error}', 'off}'))
    expect((await place.cli(name)).code).toBe(0)
    const { code, out, err } = await place.cli(name, '--error', 'item-conflict')
    expect([code, out + err]).toEqual([1, expect.stringContaining('Conflicting items')])
  })

  it('is that of the code in machine formats', async () => {
    write()
    place.configure('checks: {item-conflict: note}')
    const github = await place.cli('validate', '--format', 'github')
    expect(github.out).toMatch(/^::notice file=domains\/a.yaml,line=4,/)
    const sarif = await place.cli('validate', '--format', 'sarif')
    expect(JSON.parse(sarif.out)).toMatchObject({
      runs: [{ results: [{ ruleId: 'item-conflict', level: 'note' }] }],
    })
  })

  it('can not be that of an error', async () => {
    place.write('domains/a.yaml', `domain: ${www}\nconfig: {https: {cert_id: x}}\n`)
    place.configure('checks: {item-invalid: off}')
    expect(await list()).toEqual(['error item-invalid 2'])
    expect(await list('-W', 'item-invalid')).toEqual(['error item-invalid 2'])
  })

  it.each([
    ['yaml-invalid', '"yaml-invalid" is always an error, which can\'t be changed'],
    ['policy-violated', '"policy-violated" is as serious as the level of its policy'],
    ['exception-unknown', '"exception-unknown" is always an error'],
    ['item-conflit', 'there is no code "item-conflit". Did you mean "item-conflict"?'],
    ['nothing', 'there is no code "nothing". "edgewise validate --json" prints codes.'],
  ])('can not be set for "%s"', async (code, message) => {
    write()
    for (const option of ['-W', '-E'])
      for (const name of ['validate', 'plan'])
        expect(await place.json(name, option, code)).toMatchObject({
          code: 'usage',
          message: expect.stringContaining(`${option}: ${message}`),
        })
    place.configure(`checks: {${code}: off}`)
    const { diagnostics } = await place.json('validate')
    expect(diagnostics).toMatchObject([
      { code: 'workspace-invalid', detail: expect.stringContaining(message) },
    ])
  })

  it('can not be two', async () => {
    const { code, err } = await place.cli('validate', '-W', 'item-conflict', '-E', 'item-conflict')
    expect([code, err]).toEqual([1, expect.stringContaining('has both -W and -E')])
  })

  it('is a word that the key has', async () => {
    place.configure('checks: {item-conflict: warnings}')
    const { diagnostics } = await place.json('validate')
    expect(diagnostics).toMatchObject([
      { detail: expect.stringContaining('Did you mean "warning"?') },
    ])
  })

  it('is set under "checks", keys of other sections are not', async () => {
    place.configure('checks: {account: off}\nitem-conflict: off')
    const { diagnostics } = await place.json('validate')
    expect(diagnostics).toMatchObject([
      { detail: expect.stringContaining('It belongs under "service:".') },
      { detail: expect.stringContaining('It belongs under "checks:".') },
    ])
  })

  it('can be set for each code that is no error', async () => {
    expect(Object.keys(workspaceSchema.properties.checks.properties)).toEqual([...adjustableCodes])
    const { out } = await place.cli('complete', '--', 'plan', '-E', 'rule-s')
    expect(out).toContain('rule-shadowed')
  })
})

describe('a comment that allows a finding', () => {
  it('takes it out, and is counted with --verbose', async () => {
    write(allow())
    place.configure('checks: {item-conflict: error}')
    const { code, out, err } = await place.cli('validate', '-v')
    expect([code, out]).toEqual([0, expect.stringMatching(/^Valid: 1 domain/)])
    expect(err).toContain('Comments allow 1 finding.')
    expect((await place.cli('validate')).err).not.toContain('Comments')
    expect((await place.cli('validate', '--format', 'github')).out).toBe('')
    expect((await place.cli('plan')).code).toBe(0)
  })

  it('marks it in SARIF', async () => {
    write(allow())
    const { out } = await place.cli('validate', '--format', 'sarif')
    const [run] = (JSON.parse(out) as { runs: JsonObject[] }).runs
    expect(run?.['results']).toMatchObject([
      {
        ruleId: 'item-conflict',
        suppressions: [{ kind: 'inSource', status: 'accepted', justification: '"moving"' }],
      },
    ])
  })

  it('may be in the line itself, in a file with CRLF and of several documents', async () => {
    place.write(
      'domains/a.yaml',
      `domain: b.example.com\r\nconfig: {}\r\n---\r\ndomain: ${www}\r\nconfig:\r\n` +
        `  ${origin} ${allow()}\r\n  ${newOrigin}\r\n`,
    )
    expect(await list()).toEqual([])
    write(allow(), 'domains/a.yaml', '\r\n')
    expect(await list()).toEqual([])
  })

  it('may be in a profile', async () => {
    write(allow(), 'profiles/p.yaml')
    place.write(
      'profiles/p.yaml',
      place.read('profiles/p.yaml').replace(/domain: .*/, 'profile: p'),
    )
    place.write('domains/a.yaml', `domain: ${www}\nprofiles: [p]\n`)
    expect(await list()).toEqual([])
  })

  it('is a finding of its own if it has expired, is unknown, unused or malformed', async () => {
    for (const [comment, code] of [
      ['# edgewise: allow item-conflict until 2020-01-01: x', 'expired'],
      ['# edgewise: allow item-conflit until 2099-01-01: x', 'unknown'],
      ['# edgewise: allow item-conflict until 2099-01-01', 'invalid'],
      ['# edgewise: ignore', 'invalid'],
    ] as const) {
      write(comment)
      expect(await list()).toEqual([`warning suppression-${code} 3`, 'warning item-conflict 4'])
    }
    write(allow('rule-shadowed'))
    expect(await list()).toEqual(['warning suppression-unused 3', 'warning item-conflict 4'])
    expect((await place.cli('plan')).err).not.toContain('suppression-unused')
  })

  it('shows no control character of it', async () => {
    write('# edgewise: allow \u009b2J\u202e until x')
    for (const format of ['text', 'json', 'github', 'sarif']) {
      const { out } = await place.cli('validate', '--format', format)
      expect(out).toContain('edgewise: allow CODE until')
      // oxlint-disable-next-line no-control-regex
      if (format !== 'json') expect(out).not.toMatch(/[\u0080-\u009f\u202e]/)
    }
  })

  itLong('is listed up to the limit of a file', async () => {
    const comments = `${allow('rule-shadowed')}\n`.repeat(5000)
    place.write('domains/a.yaml', `domain: ${www}\nconfig: {}\n${comments}`)
    const found = await list()
    expect([found.length, found.at(-1)]).toEqual([201, 'warning too-many-problems 203'])
  })

  it('stays where it is in a formatted file', async () => {
    write(allow())
    place.write(
      'domains/a.yaml',
      `domain: ${www}\nconfig:\n    ${newOrigin}\n    ${allow()}\n    ${origin}\n`,
    )
    expect(await list()).toEqual([])
    expect((await place.cli('fmt')).code).toBe(0)
    expect(place.read('domains/a.yaml')).toBe(
      `domain: ${www}\nconfig:\n  ${allow()}\n  ${origin}\n  ${newOrigin}\n`,
    )
    expect(await list()).toEqual([])
  })
})
