import type { Json, JsonObject } from '../../../src/core/model/json.ts'
import { checkNames, readingNames, readings, type ReadingName } from '../second/readings.ts'
import type { Draft } from './draft.ts'

/** Zones of services and readings. */
export const zones = ['UTC', 'Asia/Shanghai', 'Asia/Kolkata', 'America/New_York'] as const

/** Answers of the readings whose answers have no names; those of R15 are made. */
const others: Record<string, readonly Json[]> = {
  R15: [],
  R17: [403, 400, 404, 599],
  R31: ['service', ...zones],
  R41: ['origin', 60, 3600, 0],
}

/** Names of all readings, those without named answers last. */
const names = readingNames.toSorted((a, b) => Number(a in others) - Number(b in others))

/** Draws explicit settings: each reading with this probability, and the unmanaged items. */
export function drawSettings({ chance }: Draft, share: number, items: string[]): JsonObject {
  const settings: JsonObject = {}
  for (const name of chance.some(names, share)) {
    settings[name] = name === 'R15' ? drawOrder(chance) : chance.pick(getAnswers(name))
  }
  if (chance.happens(0.8))
    settings['unmanaged'] = chance.pick<Json>([
      'unknown',
      'unknown',
      'absent',
      chance.some(items, 0.6),
    ])
  return settings
}

function getAnswers(name: ReadingName): readonly Json[] {
  return others[name] ?? readings[name].answers.map(String)
}

function drawOrder(chance: Draft['chance']): Json {
  return chance.happens(0.3) ? 'listed' : shuffle(chance.fork('R15'))
}

function shuffle(chance: Draft['chance']): string[] {
  const rest: string[] = [...checkNames]
  return checkNames.flatMap(() => rest.splice(chance.between(0, rest.length - 1), 1))
}
