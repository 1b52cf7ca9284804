import { describe, expect, it } from 'vitest'
import { removedOptions } from '../../src/cli/commands/removed-options.ts'
import { place, setWorkspace } from './stage.ts'

setWorkspace()

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
      expect([path, out.replaceAll(/\s+/g, ' ')]).toEqual([
        path,
        expect.not.stringContaining('[])'),
      ])
    }
  })

  it('is printed to stdout without arguments, with exit code 0', async () => {
    const help = await place.cli('--help')
    expect(help.out).toMatch(/^Usage: edgewise /)
    expect(await place.cli()).toEqual({ code: 0, out: help.out, err: '' })
  })

  it('is printed to stderr without the subcommand of a command, with exit code 1', async () => {
    const { out } = await place.cli('state', '--help')
    expect(await place.cli('state')).toEqual({ code: 1, out: '', err: out })
    expect(await place.json('state')).toMatchObject({ message: 'missing subcommand' })
  })
})

describe('an unknown name', () => {
  const ask = async (...args: string[]) => (await place.cli(...args)).err.trimEnd().split('\n')

  it.each([
    [['plaan'], 'plan'],
    [['fnt'], 'fmt'],
    [['state', 'lst'], 'list'],
    [['statu'], 'one of state, stats'],
    [['plan', '--targt', 'a'], '--target'],
    [['apply', '--lokc-timeout', '1'], '--lock-timeout'],
  ])('%j gets a suggestion: it has a slip of letters', async (args, name) => {
    expect(await ask(...args)).toContain(`(Did you mean ${name}?)`)
  })

  it.each([
    ['exit'],
    ['exit', '--json'],
    ['plot'],
    ['drop'],
    ['state', 'ls'],
    ['plan', '--yessss'],
    ['plan', '--check'],
  ])('%s %s gets none: it is too far from every name', async (...args) => {
    const { code, out, err } = await place.cli(...args.filter((word) => word !== undefined))
    expect([code, `${out}${err}`]).toEqual([1, expect.stringContaining('unknown ')])
    expect(`${out}${err}`).not.toContain('Did you mean')
  })
})

describe('help of a command', () => {
  it.each(['plan', 'state', 'state list', 'rollout approve', 'help'])('%s', async (name) => {
    const words = name.split(' ')
    const { code, out, err } = await place.cli('help', ...words)
    expect([code, out, err]).toEqual([0, (await place.cli(...words, '--help')).out, ''])
  })

  it('names an unknown command, with a suggestion', async () => {
    const { code, out, err } = await place.cli('help', 'plaan')
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain("unknown command 'plaan'\n(Did you mean plan?)")
    expect(await place.json('help', 'frobnicate')).toMatchObject({
      code: 'usage',
      message: "unknown command 'frobnicate'",
    })
  })
})

describe('a removed option or command', () => {
  it.each(Object.entries(removedOptions))('%s: what to do instead', async (line, advice) => {
    const message = `"edgewise ${line}" was removed: ${advice}`
    const words = line.split(' ')
    const isOption = line.includes('--')
    for (const more of [[], ['x'], ['-q'], ['--unknown']]) {
      const { code, out, err } = await place.cli(...words, ...more)
      expect([code, out]).toEqual([1, ''])
      expect(err.replaceAll(/\s+/g, ' ')).toContain(`error: ${message}`)
    }
    const withValue = isOption ? [...words.slice(0, -1), `${words.at(-1) ?? ''}=x`] : words
    expect(await place.json(...withValue)).toMatchObject({ code: 'usage', message })
  })

  it('counts at its own command only', async () => {
    const { err } = await place.cli('drift', '--run-policies')
    expect(err).toContain("unknown option '--run-policies'")
  })
})
