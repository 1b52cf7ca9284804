import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Place } from './cli.ts'

let place: Place
beforeEach(() => {
  place = new Place('emulator')
})
afterEach(() => place.remove())

/** Every command that help knows, by the words that lead to it. */
async function commands(path: string[] = []): Promise<string[][]> {
  const { out } = await place.cli(...path, '--help')
  const section = /\nCommands:\n((?: {2}.*\n|\n(?= {2}\S))+)/.exec(out)?.[1] ?? ''
  const names = Array.from(section.matchAll(/^ {2}([a-z]+)/gm), ([, name]) => name ?? '').filter((name) => name !== 'help')
  const below = await Promise.all(names.map((name) => commands([...path, name])))
  return [path, ...below.flat()]
}

describe('--help', () => {
  it('has examples for every command, made of options that it has, in 80 columns', async () => {
    const all = await commands()
    expect(all.map((path) => path.join(' '))).toEqual(
      expect.arrayContaining(['', 'plan', 'apply', 'drift', 'fmt', 'completion', 'state list']),
    )
    for (const path of all) {
      const { code, out, err } = await place.cli(...path, '--help')
      expect([path, code, err]).toEqual([path, 0, ''])
      const examples = Array.from(out.matchAll(/^ {2}\$ edgewise (.*)$/gm), ([, example]) => example ?? '')
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
  it('makes a workspace that is valid, formatted and planned at once', async () => {
    expect((await place.cli('init', 'cdn')).code).toBe(0)
    for (const args of [['validate'], ['fmt', '--check'], ['plan'], ['apply', '--yes']]) {
      expect([args, (await place.cli('-C', 'cdn', ...args)).code]).toEqual([args, 0])
    }
    expect((await place.cli('-C', 'cdn', 'plan')).out).toContain('No changes.')
    for (const path of ['edgewise.yaml', 'domains/www.example.com.yaml', 'profiles/baseline.yaml']) {
      const text = readFileSync(join(place.root, 'cdn', path), 'utf8')
      const schema = /^# yaml-language-server: \$schema=(\S+)/.exec(text)?.[1] ?? ''
      expect([path, existsSync(join(place.root, 'cdn', path, '..', schema))]).toEqual([path, true])
    }
    expect(readFileSync(join(place.root, 'cdn/.gitignore'), 'utf8')).toContain('.edgewise/')
    expect(readFileSync(join(place.root, 'cdn/.github/workflows/edgewise.yml'), 'utf8')).toContain('permissions: {contents: read}')
  })
})
