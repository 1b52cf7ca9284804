import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { compileSides, type Sides } from '../../src/core/effects/sides.ts'
import type { Candidate } from '../../src/core/trace/candidates.ts'
import type { Settings } from '../../src/core/trace/readings.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'

/** The usual settings, with explicit answers. */
export function settle(assume: JsonObject = {}, timezone?: string): Settings {
  return buildSettings(assume, timezone)
}

/** What most cases have beside the item they are about. */
export const base = { origin: { default_master: '192.0.2.10' }, https: { cert_id: 1001 } }

type Items = Record<string, Json>

/** Both sides of a change of items with one candidate, over a base that serves. */
export function change(before: Items, after: Items, settings = settle()): Sides {
  return changeCandidates(toLists({ ...base, ...before }), toLists({ ...base, ...after }), settings)
}

/** Both sides of a change of items with any candidates. */
export function changeCandidates(
  before: Record<string, Json[]>,
  after: Record<string, Json[]>,
  settings = settle(),
  domain = 'www.example.com',
): Sides {
  const toMap = (items: Record<string, Json[]>) =>
    new Map(Object.entries(items) as [string, Candidate[]][])
  return compileSides(domain, toMap(before), toMap(after), settings)
}

function toLists(items: Items): Record<string, Json[]> {
  return Object.fromEntries(Object.entries(items).map(([key, value]) => [key, [value]]))
}

/** A request of which all is known. */
export const whole: JsonObject = {
  url: 'https://www.example.com/',
  method: 'GET',
  headers: { '*': null },
  ip: '192.0.2.1',
  country: 'nowhere',
  isp: 'other',
  at: 1_700_000_000,
  time: '12:00',
  bodySize: 0,
  origin: { status: 200, headers: { '*': null }, size: 1000 },
}
