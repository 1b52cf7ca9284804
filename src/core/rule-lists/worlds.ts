import { getOrAdd } from '../model/lists.ts'
import type { Json } from '../model/json.ts'
import { listAnswers, type Settings } from '../trace/readings.ts'
import type { Space } from './find-url.ts'

/** Answers of open readings under which a finding holds: `{"R8": "any"}`; empty for all worlds. */
export type Under = Record<string, string>

/** One answer for each of some open readings. */
export interface World {
  settings: Settings
  answers: readonly string[]
}

/** Greatest number of worlds that are tried; with more, nothing is decided. */
const maxWorlds = 96

/** Lists the open ones of some readings, sorted. */
export function listOpen(settings: Settings, numbers: Iterable<number>): number[] {
  const open = [...new Set(numbers)].filter((number) => settings.answers[number] === undefined)
  return open.toSorted((a, b) => a - b)
}

const known = new WeakMap<Settings, Map<string, World[] | null>>()

/** Lists the worlds of some open readings; null if there are too many. */
export function listWorlds(settings: Settings, open: readonly number[]): World[] | null {
  const worlds = getOrAdd(known, settings, () => new Map<string, World[] | null>())
  return getOrAdd(worlds, open.join(), () => {
    const made = open.reduce<World[]>(
      (list, number) =>
        list.length > maxWorlds
          ? list
          : list.flatMap((world) =>
              listAnswers(number).map((answer) => ({
                settings: settle(world.settings, number, answer),
                answers: [...world.answers, answer],
              })),
            ),
      [{ settings, answers: [] }],
    )
    return made.length > maxWorlds ? null : made
  })
}

/** Settles one reading more. */
export function settle(settings: Settings, number: number, answer: string): Settings {
  const answers: (Json | undefined)[] = [...settings.answers]
  answers[number] = answer
  return { ...settings, answers }
}

/** Forms in which patterns may see path and query (R2). */
const forms = ['as-sent', 'normalised', 'decoded'] as const satisfies readonly Space[]

/** Whether something holds for all URLs of a space, for some URL, or whatever the URLs are. */
type Reach = 'all' | 'some' | 'none'

/**
 * Finds where something holds: the smallest set of answers that ensures it, empty for everywhere;
 * null for nowhere, or where nothing is decided.
 *
 * @param open the open readings that it asks for, but R2
 * @param holds whether it holds in a world; undefined if that is not decided
 * @param isTotal whether only everywhere counts
 */
export function findUnder(
  settings: Settings,
  open: readonly number[],
  holds: (settings: Settings, space: Space) => boolean | undefined,
  reach: Reach = 'none',
  isTotal = false,
): Under | null {
  const worlds = listWorlds(settings, open)
  if (worlds === null) return null
  const answer = settings.answers[2]
  const seen = forms.filter((form) => answer === undefined || answer === form)
  const found: Outcome[] = []
  for (const world of worlds) {
    const test = (space: Space) => holds(world.settings, space)
    const always = answerAlways(reach, test)
    for (const form of seen)
      found.push({ answers: [form, ...world.answers], holds: always ?? test(form) === true })
    if (isTotal && found.some((each) => !each.holds)) return null
  }
  const names = [2, ...open].map((number) => `R${number}`)
  return findSmallest(names, found)
}

/** The answer that all forms of R2 have in common, as each has the plain URLs. */
function answerAlways(
  reach: Reach,
  test: (space: Space) => boolean | undefined,
): boolean | undefined {
  const plain = test('plain')
  if (reach === 'none') return plain === true
  return plain === (reach === 'some') ? plain : undefined
}

interface Outcome {
  answers: readonly string[]
  holds: boolean
}

/** Finds the smallest set of answers of which all outcomes hold. */
function findSmallest(names: string[], outcomes: Outcome[]): Under | null {
  if (outcomes.every(({ holds }) => holds)) return {}
  const [holding, failing] = [true, false].map((is) => outcomes.filter(({ holds }) => holds === is))
  if (holding === undefined || failing === undefined || holding.length === 0) return null
  for (const fixed of listSets(names.length)) {
    const nameAnswers = ({ answers }: Outcome) => fixed.map((i) => answers[i]).join()
    const excluded = new Set(failing.map(nameAnswers))
    const chosen = holding.find((outcome) => !excluded.has(nameAnswers(outcome)))
    if (chosen !== undefined)
      return Object.fromEntries(fixed.map((i) => [names[i] ?? '', chosen.answers[i] ?? '']))
  }
  return null
}

const sets = new Map<number, number[][]>()

/** Lists the sets of some numbers from 0, the smallest first. */
function listSets(count: number): number[][] {
  const listed = sets.get(count)
  if (listed !== undefined) return listed
  const all = Array.from({ length: 2 ** count }, (_, set) =>
    Array.from({ length: count }, (__, i) => i).filter((i) => Math.floor(set / 2 ** i) % 2 === 1),
  )
  const sorted = all.toSorted((a, b) => a.length - b.length)
  sets.set(count, sorted)
  return sorted
}

/** Tests whether a finding holds in every world. */
export function isEverywhere(under: Under): boolean {
  return Object.keys(under).length === 0
}
