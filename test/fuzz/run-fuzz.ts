import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { Chance } from '../simulation/chance.ts'
import { FuzzWorld } from './fuzz-world.ts'
import { buildKinds, type Kind } from './kinds.ts'
import { mutateText } from './mutate.ts'

/** A defect: the case that shows it, and its stack trace. */
export interface Failure {
  kind: string
  /** Number of the case within its kind. */
  number: number
  input: string
  stack: string
}

export interface FuzzOptions {
  seed: number
  /** Ends the run before the case with this number of all. */
  isOver(cases: number): boolean
  /** Called before each case, for a watchdog. */
  begin?(kind: string, number: number): void
  /** Runs this case only. */
  only?: { kind: string; number: number }
}

export interface FuzzResult {
  /** By kind: cases, and how many of them were refused. */
  counts: Map<string, { cases: number; refused: number }>
  failures: Failure[]
}

const maxFailures = 20

/** Runs mutated inputs of all kinds, one after another, until the run is over. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const world = new FuzzWorld()
  const counts: FuzzResult['counts'] = new Map()
  const failures: Failure[] = []
  try {
    const kinds = await buildKinds(world)
    const { only } = options
    if (only !== undefined) {
      const kind = kinds.find(({ name }) => name === only.kind)
      if (kind === undefined) throw new Error(`there is no kind "${only.kind}"`)
      await runCase(kind, only.number, options, counts, failures)
      return { counts, failures }
    }
    // Loading sources takes ten times as long as the rest.
    const round = kinds.flatMap((kind) => Array<Kind>(isSlow(kind) ? 1 : 10).fill(kind))
    for (let cases = 0; !options.isOver(cases) && failures.length < maxFailures; cases++) {
      const kind = round[cases % round.length]
      if (kind === undefined) throw new Error('expected kinds')
      await runCase(kind, counts.get(kind.name)?.cases ?? 0, options, counts, failures)
    }
    return { counts, failures }
  } finally {
    world.remove()
  }
}

function isSlow({ name }: Kind): boolean {
  return name.startsWith('source') || name === 'environment'
}

async function runCase(
  kind: Kind,
  number: number,
  { seed, begin }: FuzzOptions,
  counts: FuzzResult['counts'],
  failures: Failure[],
): Promise<void> {
  begin?.(kind.name, number)
  const chance = new Chance(`${seed}/${kind.name}/${number}`)
  const index = chance.between(0, kind.texts.length - 1)
  const input = mutateText(kind.texts[index] ?? '', chance)
  const count = counts.get(kind.name) ?? { cases: 0, refused: 0 }
  counts.set(kind.name, count)
  count.cases++
  try {
    await kind.run(input, index)
  } catch (error) {
    if (error instanceof EdgewiseError) count.refused++
    else failures.push({ kind: kind.name, number, input, stack: formatStack(error) })
  }
}

function formatStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
