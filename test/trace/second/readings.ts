/** A reading of the specification (request semantics, 4). */
export interface Reading {
  usual: unknown
  /** Answers by name; for other kinds of answers, examples of which one differs from any other. */
  answers: readonly unknown[]
  /** Tests an answer of another kind. */
  isAnswer?: (answer: unknown) => boolean
}

/** The ten checks, in the order in which they are listed. */
export const checkNames = [
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
] as const

export type CheckName = (typeof checkNames)[number]

/** Builds a reading: its answers, of which `+` marks the usual one. */
function of(answers: string): Reading {
  const words = answers.split(' ')
  return {
    usual: words.find((word) => word.startsWith('+'))?.slice(1),
    answers: words.map((word) => word.replace('+', '')),
  }
}

function isInteger(answer: unknown, min: number, max: number): boolean {
  return Number.isInteger(answer) && Number(answer) >= min && Number(answer) <= max
}

function isCheckOrder(answer: unknown): boolean {
  return (
    Array.isArray(answer) &&
    answer.length === checkNames.length &&
    checkNames.every((name) => answer.includes(name))
  )
}

/** Zones of every whole hour, and some between. */
function listZones(): string[] {
  const hours = Array.from({ length: 27 }, (_, i) => `Etc/GMT${i > 14 ? '+' : '-'}${i % 15 || 0}`)
  return [...hours, 'Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Eucla']
}

function isZone(name: unknown): boolean {
  if (name === 'service') return true
  if (typeof name !== 'string') return false
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const matching = {
  R1: of('+ecmascript core'),
  R2: of('+as-sent normalised decoded'),
  R3: of('rewrite-first +cache-first'),
  R4: of('+search whole'),
  R5: of('+whole-url path-and-query path'),
  R6: of('+sensitive insensitive'),
  R7: of('+path path-and-query'),
  R8: of('+any segment'),
  R9: of('+root never'),
  R10: of('+segment prefix'),
  R11: of('+recursive direct'),
  R12: of('+last-dot ends-with'),
  R13: of('with-port +without-port'),
  R14: of('+first last'),
  R15: {
    usual: 'listed',
    answers: [checkNames.toReversed()],
    isAnswer: (answer) => answer === 'listed' || isCheckOrder(answer),
  },
  R16: of('+access-first redirect-first'),
  R17: {
    usual: 403,
    answers: [400, 404, 451, 599],
    isAnswer: (answer) => isInteger(answer, 400, 599),
  },
  R18: of('+anti-leech every'),
  R19: of('exact +path'),
  R20: of('+alike distinct'),
  R21: of('no-host +host-first'),
  R22: of('+anchor literal'),
  R23: of('+all any'),
  R24: of('+labels name'),
  R25: of('+name inverted'),
  R26: of('+text regex'),
  R27: of('+either regex'),
  R28: of('+post any'),
  R29: {
    usual: 1024,
    answers: [1024, 1000],
    isAnswer: (answer) => answer === '1024' || answer === '1000',
  },
  R30: of('+to-origin from-client'),
  R31: { usual: 'service', answers: listZones(), isAnswer: isZone },
  R32: of('+deny pass'),
  R33: of('+strict loose'),
  R34: of('+plain'),
  R35: of('+key-and-time key-only'),
  R36: of('+valid invalid'),
  R37: of('+as-sent stripped'),
} satisfies Record<string, Reading>

const serving = {
  R38: of('+list-first rule-first list-only rule-only'),
  R39: of('+after before'),
  R40: of('+origin bypass'),
  R41: {
    usual: 'origin',
    answers: ['origin', 0, 7],
    isAnswer: (answer) => answer === 'origin' || isInteger(answer, 0, Number.MAX_SAFE_INTEGER),
  },
  R42: of('rule-time +not-cached'),
  R43: of('narrow +wide'),
  R44: of('rule +not-stored'),
  R45: of('+cache_error_code error_bcache'),
  R46: of('+do_nothing'),
  R47: of('applies +idle'),
  R48: of('+separate shared'),
  R49: of('cached +not-stored'),
  R50: of('+origin anything nothing'),
  R51: of('tos-first tos-second +tos-last'),
  R52: of('own +own-then-default level-first'),
  R53: of('+unweighted equal'),
  R54: of('+lowest highest'),
  R55: of('+as-origin'),
  R56: of('+domain origin_host'),
  R57: of('+header host'),
  R58: of('+first last chain'),
  R59: of('+replace substitute'),
  R60: of('+query-last rewrite-last'),
  R61: of('+ascending descending'),
  R62: of('+append replace keep'),
  R63: of('add +nothing'),
  R64: of('+head-control-last head-control-first real-ip-last'),
  R65: of('+overwrite append keep'),
  R66: of('before-access +after-access'),
  R67: of('+before-cache after-cache'),
  R68: of('+new_origin connect_timeout'),
  R69: of('+origin-only all'),
  R70: of('+strip literal'),
  R71: of('+negotiated always'),
  R72: of('+smart both'),
  R73: of('+gzip br'),
  R74: of('+br gzip'),
  R75: of('+first last lowest'),
  R76: of('+inside outside'),
  R77: of('+start either both'),
  R78: of('+dropped kept'),
  R79: of('+used ignored'),
} satisfies Record<string, Reading>

export type ReadingName = keyof typeof matching | keyof typeof serving

export const readings: Record<ReadingName, Reading> = { ...matching, ...serving }

export function isReadingName(name: string): name is ReadingName {
  return Object.hasOwn(readings, name)
}

/** All names by number. */
export const readingNames = Object.keys(readings).filter(isReadingName)

/** How unmanaged items are taken: those of a list are unknown, the others absent. */
export type Unmanaged = 'absent' | 'unknown' | readonly string[]

export interface Settings {
  settled: ReadonlyMap<ReadingName, unknown>
  /** What the operator has set, by name. */
  own: ReadonlySet<string>
  unmanaged: Unmanaged
}

/**
 * Puts settings together: the usual answers, and explicit ones.
 *
 * @throws Error for an unknown name or answer
 */
export function settle(
  assume: Record<string, unknown>,
  isItem: (name: string) => boolean,
): Settings {
  const settled = new Map(readingNames.map((name) => [name, readings[name].usual]))
  const own = new Set<string>()
  let unmanaged: Unmanaged = 'absent'
  for (const [name, answer] of Object.entries(assume)) {
    own.add(name)
    if (name === 'unmanaged') unmanaged = checkUnmanaged(answer, isItem)
    else if (!isReadingName(name)) throw new Error(`unknown reading: ${name}`)
    else settled.set(name, checkAnswer(name, answer))
  }
  return { settled, own, unmanaged }
}

function checkAnswer(name: ReadingName, given: unknown): unknown {
  const { answers, isAnswer } = readings[name]
  const answer = isAnswer === undefined ? String(given) : given
  if (!(isAnswer?.(answer) ?? answers.includes(answer)))
    throw new Error(`unknown answer to ${name}: ${JSON.stringify(given)}`)
  return answer
}

function checkUnmanaged(answer: unknown, isItem: (name: string) => boolean): Unmanaged {
  if (answer === 'absent' || answer === 'unknown') return answer
  if (!Array.isArray(answer)) throw new Error('unknown answer to unmanaged')
  const items: string[] = []
  for (const item of answer) {
    if (typeof item !== 'string' || !isItem(item)) throw new Error(`unknown item: ${String(item)}`)
    items.push(item)
  }
  return items
}
