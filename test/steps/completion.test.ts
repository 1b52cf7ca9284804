import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Place } from './cli.ts'

let place: Place
beforeAll(async () => {
  place = new Place('emulator')
  for (const shell of ['bash', 'zsh', 'fish'])
    place.write(`edgewise.${shell}`, (await place.cli('completion', shell)).out)
  place
    .write('a folder/file', '')
    .write('a file.json', '')
    // Stands for the program: it records its arguments, and prints the answer.
    .write(
      'bin/edgewise',
      '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/asked"\ncat > "$HOME/read"\n' +
        'cat "$HOME/answer"\necho a problem >&2\n',
    )
    .manifest('www.example.com', { timeout: { time: 60 } })
    .write('domains/more.yaml', 'domains: [a.example.com, WWW2.example.com, $(id).example.com]')
    .write('domains/broken.yaml', 'domain: broken.example.com\nconfig: [')
  chmodSync(join(place.root, 'bin/edgewise'), 0o755)
})
afterAll(() => place.remove())

const has = (program: string) => spawnSync(program, ['--version']).error === undefined
const run = (program: string, args: string[]) =>
  execFileSync(program, args, {
    cwd: place.root,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${place.root}/bin:${process.env['PATH']}`, HOME: place.root },
  })
    .split('\n')
    .filter((line) => line !== '')
    .toSorted()

/** Lists the completions of a shell; the last word is incomplete. */
const offers: Record<string, (words: string[]) => string[]> = {
  bash: (words) =>
    run('bash', [
      '--norc',
      '-c',
      'source ./edgewise.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _edgewise; ' +
        'printf "%s\\n" "${COMPREPLY[@]}"',
      'bash',
      ...words,
    ]),
  // The completion system of zsh needs a terminal, so its functions are stubbed.
  zsh: (words) =>
    run('zsh', [
      '-f',
      '-c',
      `compdef() { : }
      _describe() { print -rl -- "\${(@P)2%%:*}" }
      _files() { [[ $1 == -/ ]] && print -rl -- *(/) || print -rl -- * }
      source ./edgewise.zsh; words=("$@"); CURRENT=$#; _edgewise; true`,
      'zsh',
      ...words,
    ]),
  fish: (words) =>
    run('fish', [
      '--no-config',
      '-c',
      `source ./edgewise.fish; complete -C '${words.join(' ')}'`,
    ]).map((line) => line.split('\t')[0] ?? ''),
}

describe.each(Object.keys(offers).filter((shell) => shell === 'bash' || has(shell)))(
  '%s',
  (shell) => {
    const offered = (answer: string, ...words: string[]) => {
      place.write('answer', answer)
      return offers[shell]?.(['edgewise', ...words]) ?? []
    }

    it('asks the program about the words so far, and offers its answer', () => {
      const answer = 'plan\tshow what would change\nplain\n'
      expect(offered(answer, '-C', 'cdn', 'pla')).toEqual(['plain', 'plan'])
      expect(place.read('asked')).toBe('complete\n--\n-C\ncdn\npla\n')
      expect(place.read('read')).toBe('')
      expect(offered(answer, '')).toEqual(['plain', 'plan'])
      expect(place.read('asked')).toBe('complete\n--\n\n')
      expect(offered('', 'state', 'list', '')).toEqual([])
    })

    it('completes files and folders by itself', () => {
      expect(offered('files\n', 'import', '').join('\n')).toMatch(/a(\\)? file\.json/)
      const folders = offered('folders\n', '-C', '').join('\n')
      expect(folders).toMatch(/a(\\)? folder/)
      expect(folders).not.toContain('file.json')
    })
  },
)

/** Lists the completions of the last word, without their descriptions. */
async function complete(...words: string[]): Promise<string[]> {
  const { code, out, err } = await place.cli('complete', '--', ...words)
  expect([code, err]).toEqual([0, ''])
  return out
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '')
    .filter((word) => word !== '')
}

describe('complete', () => {
  const all = 'validate plan apply rollback rollout drift import state stats fmt explain emulator'
  const domains = ['a.example.com', 'broken.example.com', 'www.example.com', 'www2.example.com']

  it('lists commands, those below them, and their descriptions', async () => {
    const commands = await complete('')
    expect(commands).toEqual(expect.arrayContaining(all.split(' ')))
    expect(commands).not.toContain('complete')
    expect((await place.cli('complete', '--', 'fm')).out).toBe(
      'fmt\tformat files in canonical order and style; comments stay\n',
    )
  })

  it.each([
    [['pl'], ['plan']],
    [
      ['rollout', ''],
      ['list', 'approve', 'pause', 'resume', 'abort', 'stop'],
    ],
    [['state', 'list', ''], []],
    [['-C', 'state', 'pl'], ['plan']],
    [['-C', 'state', 'plan', '--det'], ['--detailed-exitcode']],
    [['--json', 'fmt', '--ch'], ['--check']],
    [['init', '--a'], ['--action']],
    [['plan', '--check'], []],
    [['plan', '--hel'], ['--help']],
    [
      ['validate', '--format', ''],
      ['text', 'json', 'github', 'sarif'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['plan', '--item', 'htt'], ['https']],
    [
      ['explain', 'ip_'],
      ['ip_black_list', 'ip_white_list'],
    ],
    [['import', ''], ['files']],
    [['plan', '--report', ''], ['files']],
    [['-C', ''], ['folders']],
    [['show', ''], domains],
    [['state', 'forget', 'c.example.com', 'Www'], domains.slice(2)],
    [['apply', '--json', '--target', 'a'], domains.slice(0, 1)],
    [['import', '--domain', '-x'], []],
    [['-C', 'nowhere', 'show', ''], []],
  ])('%j: %j', async (words, expected) => {
    expect(await complete(...words)).toEqual(expected)
  })

  it('lists no domain without a valid workspace file, and is in no help', async () => {
    const other = new Place('emulator').write('edgewise.yaml', 'version: 7\n')
    expect(await other.cli('complete', '--', 'show', '')).toEqual({
      code: 0,
      out: '',
      err: '',
    })
    other.remove()
    expect((await place.cli('--help')).out).not.toMatch(/^ +complete /m)
  })
})

it('an unknown shell is refused with the list of shells', async () => {
  const { code, err } = await place.cli('completion', 'tcsh')
  expect([code, err]).toEqual([1, expect.stringContaining('bash, zsh, fish')])
})
