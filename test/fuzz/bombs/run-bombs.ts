import { Chance } from '../../simulation/chance.ts'
import type { Bomb, Builder } from './bomb.ts'
import { findExcess, measureBomb, type CommandCost } from './measure-bomb.ts'
import { relationBombs } from './relations.ts'
import { structureBombs } from './structures.ts'
import { textBombs } from './texts.ts'

const builders: Record<string, Builder> = { ...textBombs, ...structureBombs, ...relationBombs }
export const bombKinds = Object.keys(builders)
const maxBytes = 5_000_000

/** A command on a bomb: its cost, and what is wrong with it. */
export interface BombRun {
  /** Kind and number of the bomb, as `--only` takes it. */
  name: string
  bytes: number
  cost: CommandCost
  excess: string | null
}

/**
 * Runs commands of the built program on bombs of each kind in turn, of sizes up to 5 MB.
 *
 * @param only kind and number of the only bomb to run, such as `keys:3`
 */
export function* runBombs(seed: number, only?: string): Generator<BombRun> {
  const [kind, number] = only?.split(':') ?? []
  const chosen = Object.entries(builders).filter(([name]) => kind === undefined || name === kind)
  if (chosen.length === 0) throw new Error(`there is no bomb "${only}"`)
  for (let i = Number(number ?? 0); ; i++) {
    for (const [name, build] of chosen) {
      const bomb = buildBomb(build, `${seed}/${name}/${i}`)
      const bytes = measureSize(bomb)
      for (const cost of measureBomb(bomb))
        yield { name: `${name}:${i}`, bytes, cost, excess: findExcess(cost) }
    }
    if (number !== undefined) return
  }
}

/** Builds the same bomb for the same seed, of one of three sizes; quotes may make it larger. */
function buildBomb(build: Builder, seed: string): Bomb {
  const wanted = maxBytes * new Chance(`${seed}/size`).pick([0.02, 0.2, 1, 1])
  for (let bytes = wanted; ; bytes *= 0.8) {
    const bomb = build(Math.floor(bytes), new Chance(seed))
    if (measureSize(bomb) <= maxBytes) return bomb
  }
}

function measureSize({ files }: Bomb): number {
  return Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
