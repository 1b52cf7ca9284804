import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Place } from './cli.ts'

let place: Place
beforeEach(() => {
  place = new Place('emulator')
})
afterEach(() => place.remove())

/** Lists every command in the help, by its words. */
async function commands(path: string[] = []): Promise<string[][]> {
  const { out } = await place.cli(...path, '--help')
  const section = /\nCommands:\n((?: {2}.*\n|\n(?= {2}\S))+)/.exec(out)?.[1] ?? ''
  const names = Array.from(section.matchAll(/^ {2}([a-z]+)/gm), ([, name]) => name ?? '').filter(
    (name) => name !== 'help',
  )
  const below = await Promise.all(names.map((name) => commands([...path, name])))
  return [path, ...below.flat()]
}

describe('--help', () => {
  it('has examples with existing options for every command, in 80 columns', async () => {
    const all = await commands()
    expect(all.map((path) => path.join(' '))).toEqual(
      expect.arrayContaining(['', 'plan', 'apply', 'drift', 'fmt', 'completion', 'state list']),
    )
    for (const path of all) {
      const { code, out, err } = await place.cli(...path, '--help')
      expect([path, code, err]).toEqual([path, 0, ''])
      const examples = Array.from(
        out.matchAll(/^ {2}\$ edgewise (.*)$/gm),
        ([, example]) => example ?? '',
      )
      expect([path, examples.length > 0]).toEqual([path, true])
      for (const example of examples) {
        expect([path, example.startsWith(path.join(' '))]).toEqual([path, true])
        for (const option of example.replace(/'[^']*'/g, '').match(/(?<= )--[a-z-]+/g) ?? []) {
          expect([path, option, out.includes(option)]).toEqual([path, option, true])
        }
      }
      expect([path, out.split('\n').filter((line) => line.length > 80)]).toEqual([path, []])
    }
  })
})

describe('init', () => {
  it('creates a workspace that is valid, formatted and can be planned', async () => {
    expect((await place.cli('init', 'cdn')).code).toBe(0)
    for (const args of [['validate'], ['fmt', '--check'], ['plan'], ['apply', '--yes']]) {
      expect([args, (await place.cli('-C', 'cdn', ...args)).code]).toEqual([args, 0])
    }
    expect((await place.cli('-C', 'cdn', 'plan')).out).toContain('No changes.')
    for (const path of [
      'edgewise.yaml',
      'domains/www.example.com.yaml',
      'profiles/baseline.yaml',
    ]) {
      const text = readFileSync(join(place.root, 'cdn', path), 'utf8')
      const schema = /^# yaml-language-server: \$schema=(\S+)/.exec(text)?.[1] ?? ''
      expect([path, existsSync(join(place.root, 'cdn', path, '..', schema))]).toEqual([path, true])
    }
    expect(readFileSync(join(place.root, 'cdn/.gitignore'), 'utf8')).toContain('.edgewise/')
  })

  const commit = '0123456789abcdef0123456789abcdef01234567'
  const workflow = 'cdn/.github/workflows/edgewise.yml'
  const text = (path: string) => readFileSync(join(place.root, path), 'utf8')

  it('writes no workflow without --action, and prints the command for it', async () => {
    const { code, out } = await place.cli('init', 'cdn')
    expect([code, existsSync(join(place.root, 'cdn/.github'))]).toEqual([0, false])
    expect(out.split('\n').filter((line) => line.includes('workflow'))).toEqual([
      'No workflow was written; "edgewise init cdn --action OWNER/REPO@SHA" writes one.',
    ])
  })

  it('--action writes a workflow that pins the action by commit', async () => {
    const { code, out } = await place.cli('init', 'cdn', '--action', `team/edgewise@${commit}`)
    expect([code, out]).toEqual([0, expect.stringContaining(`wrote ${workflow}\n`)])
    expect(out).not.toContain('No workflow')
    expect(text(workflow)).toContain(`uses: team/edgewise@${commit}`)
    expect(text(workflow)).toContain('permissions: {contents: read}')
    expect((await place.cli('-C', 'cdn', 'validate')).code).toBe(0)
  })

  it('--action adds the workflow to an existing workspace, and overwrites none', async () => {
    expect((await place.cli('init', 'cdn')).code).toBe(0)
    place.write('cdn/edgewise.yaml', 'version: 1\nid: mine\n')
    expect((await place.cli('init', 'cdn')).err).toContain('edgewise.yaml')
    const added = await place.cli('-C', 'cdn', 'init', '--action', `team/edgewise@${commit}`)
    expect(added).toMatchObject({ code: 0, out: `wrote ${workflow}\n` })
    expect(text('cdn/edgewise.yaml')).toBe('version: 1\nid: mine\n')
    const again = await place.cli('init', 'cdn', '--action', `other/edgewise@${commit}`)
    expect(again).toMatchObject({ code: 1, out: '' })
    expect(again.err).toContain(
      '.github/workflows/edgewise.yml already exists; nothing was written',
    )
    expect(text(workflow)).toContain('team/edgewise')
  })

  it.each([
    '',
    'edgewise',
    'team/edgewise',
    'team/edgewise@',
    'team/edgewise@v1',
    'team/edgewise@main',
    'team/edgewise@0123456',
    `team/edgewise@${commit}0`,
    `team/edgewise@${commit.replace('0', 'g')}`,
    `edgewise@${commit}`,
    `/edgewise@${commit}`,
    `team/@${commit}`,
    `team/..@${commit}`,
    `-team/edgewise@${commit}`,
    `team/edge wise@${commit}`,
    `team/edgewise\n@${commit}`,
    `team/edgewise@${commit}\n`,
    `team/edgewise/x@${commit}`,
    `team/\${{x}}@${commit}`,
    `https://host.example/team/edgewise@${commit}`,
  ])('--action %j is refused with the reason, and nothing is written', async (action) => {
    const { code, out, err } = await place.cli('init', 'cdn', '--action', action)
    expect([code, out, existsSync(join(place.root, 'cdn'))]).toEqual([1, '', false])
    const words = err.replace(/\s+/g, ' ')
    expect(words).toContain('expected OWNER/REPO@SHA, where SHA is a commit of 40 hex digits')
    expect(words).toContain('A tag or a branch can be moved')
    const { code: json } = await place.json('init', 'cdn', '--action', action)
    expect(json).toBe('usage')
  })
})
