import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChainFile } from '../../src/core/model/generated/state-types.ts'
import { place } from './stage.ts'

/** Finds the folder of the state of the place. */
export function findHome(): string {
  const state = join(place.root, '.edgewise/state')
  const paths = readdirSync(state, { recursive: true, encoding: 'utf8' })
  return join(state, paths.find((path) => path.endsWith('/journal'))?.slice(0, -8) ?? '')
}

/** Loads the entries of the history of the place, first to last. */
export function loadEntries(): ChainFile[] {
  const folder = join(findHome(), 'chain-0')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ChainFile)
    .toSorted((a, b) => a.number - b.number)
}
