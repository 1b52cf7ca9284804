import { expect } from 'vitest'
import type { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { buildDomain, buildItem } from '../state/store-contract.ts'
import type { Two } from '../state/two-clones.ts'

/** Builds state with one item. */
export const buildTimeout = (time: string) =>
  buildDomain('a.example.com', { timeout: buildItem(time) })

/** Opens state and returns the refusal. */
export function refuseOpening(two: Two, where: string): Promise<EdgewiseError> {
  return two.open(where).then(
    () => Promise.reject(new Error('expected the state to be refused')),
    (error: EdgewiseError) => error,
  )
}

/** Returns the git commands of a hint below the line that has a word, each on its own line. */
export function listCommands({ hint }: EdgewiseError, word: string): string[][] {
  const lines = hint.split('\n')
  const below = lines.slice(lines.findIndex((line) => line.includes(word)) + 1)
  const end = below.findIndex((line) => !line.startsWith('  git '))
  return below
    .slice(0, end === -1 ? below.length : end)
    .map((line) => line.slice('  git '.length).split(' '))
}

/** Runs the git commands of a hint in a clone. */
export async function runCommands(two: Two, where: string, commands: string[][]): Promise<void> {
  expect(commands.length).toBeGreaterThan(0)
  for (const command of commands) await two.sandbox.git(where, ...command)
}

/** Finds that state was set back, and restores the newest of the clone by the first way out. */
export async function restoreSetBack(two: Two, newest: string): Promise<void> {
  const error = await refuseOpening(two, 'clone')
  expect(error.code).toBe('state-rewound')
  await runCommands(two, 'clone', listCommands(error, 'restore'))
  for (const where of ['clone', 'other'])
    expect(await (await two.open(where)).load()).toEqual(buildTimeout(newest))
}
