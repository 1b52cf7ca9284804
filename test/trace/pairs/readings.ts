import type { Json, JsonObject } from '../../../src/core/model/json.ts'
import type { Draft } from './draft.ts'

const checks = [
  'deny_protocol',
  'ip_black_list',
  'ip_white_list',
  'visit_areas_limit',
  'referer',
  'user_agent',
  'visit_timestamp',
  'combined_ban',
  'deny_url',
  'post_upload_size_limit',
]

/** Zones of services and readings. */
export const zones = ['UTC', 'Asia/Shanghai', 'Asia/Kolkata', 'America/New_York'] as const

const headerOrders = 'head-control-last head-control-first real-ip-last'

/** Answers of the readings; those of R15 are made. */
const answers: Record<string, readonly Json[]> = {
  ...splitAnswers({
    R1: 'ecmascript core',
    R2: 'as-sent normalised decoded',
    R3: 'rewrite-first cache-first',
    R4: 'search whole',
    R5: 'whole-url path-and-query path',
    R6: 'sensitive insensitive',
    R7: 'path path-and-query',
    R8: 'any segment',
    R9: 'root never',
    R10: 'segment prefix',
    R11: 'recursive direct',
    R12: 'last-dot ends-with',
    R13: 'with-port without-port',
    R14: 'first last',
    R16: 'access-first redirect-first',
    R18: 'anti-leech every',
    R19: 'exact path',
    R20: 'alike distinct',
    R21: 'no-host host-first',
    R22: 'anchor literal',
    R23: 'all any',
    R24: 'labels name',
    R25: 'name inverted',
    R26: 'text regex',
    R27: 'either regex',
    R28: 'post any',
    R29: '1024 1000',
    R30: 'to-origin from-client',
    R32: 'deny pass',
    R33: 'strict loose',
    R34: 'plain',
    R35: 'key-and-time key-only',
    R36: 'valid invalid',
    R37: 'as-sent stripped',
    R38: 'list-first rule-first list-only rule-only',
    R39: 'after before',
    R40: 'origin bypass',
    R42: 'rule-time not-cached',
    R43: 'narrow wide',
    R44: 'rule not-stored',
    R45: 'cache_error_code error_bcache',
    R46: 'do_nothing',
    R47: 'applies idle',
    R48: 'separate shared',
    R49: 'cached not-stored',
    R50: 'origin anything nothing',
    R51: 'tos-first tos-second tos-last',
    R52: 'own own-then-default level-first',
    R53: 'unweighted equal',
    R54: 'lowest highest',
    R55: 'as-origin',
    R56: 'domain origin_host',
    R57: 'header host',
    R58: 'first last chain',
    R59: 'replace substitute',
    R60: 'query-last rewrite-last',
    R61: 'ascending descending',
    R62: 'append replace keep',
    R63: 'add nothing',
    R64: headerOrders,
    R65: 'overwrite append keep',
    R66: 'before-access after-access',
    R67: 'before-cache after-cache',
    R68: 'new_origin connect_timeout',
    R69: 'origin-only all',
    R70: 'strip literal',
    R71: 'negotiated always',
    R72: 'smart both',
    R73: 'gzip br',
    R74: 'br gzip',
    R75: 'first last lowest',
    R76: 'inside outside',
    R77: 'start either both',
    R78: 'dropped kept',
    R79: 'used ignored',
  }),
  R15: [],
  R17: [403, 400, 404, 599],
  R31: ['service', ...zones],
  R41: ['origin', 60, 3600, 0],
}

function splitAnswers(texts: Record<string, string>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.split(' ')]))
}

/** Names of all readings that can be set. */
export const readingNames = Object.keys(answers)

/** Draws explicit settings: each reading with this probability, and the unmanaged items. */
export function drawSettings({ chance }: Draft, share: number, items: string[]): JsonObject {
  const settings: JsonObject = {}
  for (const name of chance.some(readingNames, share)) {
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

function getAnswers(name: string): readonly Json[] {
  return answers[name] ?? []
}

function drawOrder(chance: Draft['chance']): Json {
  return chance.happens(0.3) ? 'listed' : shuffle(chance.fork('R15'))
}

function shuffle(chance: Draft['chance']): string[] {
  const rest = [...checks]
  return checks.flatMap(() => rest.splice(chance.between(0, rest.length - 1), 1))
}
