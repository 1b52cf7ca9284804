import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Place } from './cli.ts'

let place: Place
beforeAll(async () => {
  place = new Place('emulator')
  for (const shell of ['bash', 'zsh', 'fish'])
    place.write(`edgewise.${shell}`, (await place.cli('completion', shell)).out)
  mkdirSync(join(place.root, 'a folder'))
  writeFileSync(join(place.root, 'a file.json'), '')
  // Stands for the program: it records its arguments, and prints two domains.
  place.write(
    'bin/edgewise',
    '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/asked"\ncat > "$HOME/read"\n' +
      'echo a.example.com\necho b.example.com\necho a problem >&2\n',
  )
  chmodSync(join(place.root, 'bin/edgewise'), 0o755)
})
afterAll(() => place.remove())

const has = (program: string) => spawnSync(program, ['--version']).error === undefined
const run = (program: string, args: string[]) =>
  execFileSync(program, args, {
    cwd: place.root,
    encoding: 'utf8',
    env: { PATH: `${place.root}/bin:${process.env['PATH']}`, HOME: place.root, TERM: 'dumb' },
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
      offer() {
        local each
        for each in "$@"; do [[ $each == $words[CURRENT]* ]] && print -r -- $each; done
      }
      compadd() { shift; offer "$@" }
      _describe() { offer "\${(@P)2%%:*}" }
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
    const offered = (...words: string[]) => offers[shell]?.(['edgewise', ...words]) ?? []

    it('offers commands, and the commands below them', () => {
      expect(offered('')).toEqual(
        expect.arrayContaining([
          'apply',
          'completion',
          'drift',
          'emulator',
          'fmt',
          'init',
          'plan',
          'state',
          'validate',
        ]),
      )
      expect(offered('pl')).toEqual(['plan'])
      expect(offered('state', '')).toEqual([
        'forget',
        'history',
        'list',
        'migrate',
        'move',
        'prune',
        'show',
        'unlock',
      ])
      expect(offered('state', 'list', '')).toEqual([])
    })

    it('finds the command after options with values', () => {
      expect(offered('-C', 'state', 'pl')).toEqual(['plan'])
      expect(offered('-C', 'state', 'plan', '--det')).toEqual(['--detailed-exitcode'])
      expect(offered('--json', 'fmt', '--ch')).toEqual(['--check'])
    })

    it('offers the options of the command', () => {
      expect(offered('fmt', '--c')).toEqual(['--check'])
      expect(offered('init', '--a')).toEqual(['--action'])
      expect(offered('plan', '--check')).toEqual([])
      expect(offered('apply', '--allow', '')).toContain('https')
      expect(offered('apply', '--')).toEqual(
        expect.arrayContaining(['--allow', '--force', '--help', '--item', '--json', '--yes']),
      )
    })

    it('offers domains, of the workspace that -C names', () => {
      const both = ['a.example.com', 'b.example.com']
      for (const words of [
        ['state', 'show'],
        ['state', 'forget', 'c.example.com'],
        ['state', 'move'],
        ['stats'],
        ['plan', '--target'],
        ['apply', '--json', '--target'],
        ['import', '--domain'],
      ])
        expect([words, offered(...words, '')]).toEqual([words, both])
      const asked = () => readFileSync(join(place.root, 'asked'), 'utf8')
      expect(asked()).toBe('completion-domains\n--\n\n')
      offered('-C', 'cdn', 'state', 'show', 'a')
      expect(asked()).toBe('-C\ncdn\ncompletion-domains\n--\na\n')
      expect(offered('state', 'list', '')).toEqual([])
    })

    it('offers choices, items, files and folders', () => {
      expect(offered('validate', '--format', '')).toEqual(['github', 'json', 'sarif', 'text'])
      expect(offered('init', '--ci', '')).toEqual(['github', 'gitlab', 'none'])
      expect(offered('completion', '')).toEqual(['bash', 'fish', 'zsh'])
      expect(offered('plan', '--item', 'htt')).toEqual(['https'])
      expect(offered('explain', 'ip_')).toEqual(['ip_black_list', 'ip_white_list'])
      expect(offered('import', '').join('\n')).toMatch(/a(\\)? file\.json/)
      const folders = offered('-C', '')
      expect(folders.join('\n')).toMatch(/a(\\)? folder/)
      expect(folders.join('\n')).not.toContain('file.json')
    })
  },
)

describe('completion-domains', () => {
  it('lists the domains of the manifests that begin with a text, and nothing else', async () => {
    const other = new Place('https://api.example.net')
    try {
      other
        .manifest('www.example.com', { timeout: { time: 60 } })
        .write('domains/more.yaml', 'domains: [a.example.com, WWW2.example.com, $(id).example.com]')
        .write('domains/broken.yaml', 'domain: broken.example.com\nconfig: [')
      const list = (...args: string[]) => other.cli('completion-domains', ...args)
      expect(await list('--', '')).toEqual({
        code: 0,
        out: 'a.example.com\nbroken.example.com\nwww.example.com\nwww2.example.com\n',
        err: '',
      })
      expect((await list('--', 'Www')).out).toBe('www.example.com\nwww2.example.com\n')
      expect(await list('--', '-x')).toEqual({ code: 0, out: '', err: '' })
      other.write('edgewise.yaml', 'version: 7\n')
      expect(await list()).toEqual({ code: 0, out: '', err: '' })
      expect(await list('-C', 'nowhere')).toEqual({ code: 0, out: '', err: '' })
    } finally {
      other.remove()
    }
  })

  it('is in no help, and not completed', async () => {
    for (const args of [['--help'], ['completion', 'bash'], ['completion', 'fish']])
      expect((await place.cli(...args)).out).not.toMatch(/['" ]completion-domains['" ](?!--)/)
  })
})

it('an unknown shell is refused with the list of shells', async () => {
  const { code, err } = await place.cli('completion', 'tcsh')
  expect([code, err]).toEqual([1, expect.stringContaining('bash, zsh, fish')])
})
