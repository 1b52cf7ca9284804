// @module-tag often
import type { Command } from 'commander'
import { beforeEach, expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { addLiveLine } from '../../src/cli/terminal/live-line.ts'
import { createGuesses, expectNothingLearnt, guessed } from '../guesses.ts'
import { everyNth } from '../runs.ts'
import { place, setStage } from './stage.ts'

const www = 'www.example.com'

setStage({ token: guessed, domains: [www] })

beforeEach(async () => {
  place.env = { ...place.env, EDGEWISE_TOKEN: guessed }
  place.manifest(www, { timeout: { time: 60 } })
  await place.settle()
})

/** Commands that serve until they are ended. */
const serving = ['lsp', 'mcp', 'serve', 'emulator']

/** Lists command lines with a guess as each argument, and as the value of each option. */
function listLines(command: Command, guess: string, above: string[] = []): string[][] {
  return command.commands.flatMap((child): string[][] => {
    const path = [...above, child.name()]
    if (serving.includes(path[0] ?? '')) return []
    if (child.commands.length > 0) return listLines(child, guess, path)
    const args = child.registeredArguments.map(() => guess)
    const options = child.options.filter(({ required, optional }) => required || optional)
    const valued = options.map(({ long }) => [...path, ...args, long ?? '', guess])
    return [
      [...path, ...args, '--yes'],
      [...path, `--${guess}`],
      [...path, guess, guess],
      ...valued,
    ]
  })
}

const io = { out: () => undefined, err: () => undefined, columns: 80 } as unknown as Io
const list = (guess: string) =>
  listLines(
    buildProgram(io, addLiveLine(io).live, () => undefined),
    guess,
  )

it('no command says whether an argument has a part of a secret', async () => {
  const count = list('').length
  expect(count).toBeGreaterThan(100)
  for (const guess of everyNth(createGuesses(0), 6))
    for (let at = 0; at < count; at++) {
      const where = list('GUESS')[at] ?? []
      // What a command changes, such as the layout of a file, it changes now.
      await place.cli(...where)
      await expectNothingLearnt(where.join(' '), guess, async (text) => {
        const { code, out, err } = await place.cli(...(list(text)[at] ?? []))
        return `${code}\n${out}\n${err}`.replaceAll(/\s+/g, ' ')
      })
    }
})

it('no command says whether a manifest has a part of a secret', async () => {
  const lines = ['validate', 'plan', 'apply --yes', 'drift', `show ${www}`, 'fmt --check', 'test']
  for (const guess of createGuesses(0))
    await expectNothingLearnt('manifests', guess, async (text) => {
      place.manifest(www, {
        add_response_head: { type: 'reset', list: [{ name: 'X', value: text }] },
      })
      place.write('domains/other.yaml', `domain: ${text}.example.com\nconfig: {${text}: ${text}}\n`)
      const answers: string[] = []
      for (const line of lines) {
        const { code, out, err } = await place.cli(...line.split(' '))
        answers.push(`${code} ${out} ${err}`)
      }
      place.write('domains/other.yaml', '')
      for (const line of lines) {
        const { code, out, err } = await place.cli(...line.split(' '))
        answers.push(`${code} ${out} ${err}`)
      }
      return answers.join('\n').replaceAll(/\s+/g, ' ')
    })
})
