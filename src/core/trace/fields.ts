import { getOrAdd } from '../model/lists.ts'
import { map, type Answer } from './answer.ts'
import { checkKeys } from './check-keys.ts'
import type { Run } from './run.ts'
import { findDeciding, isDenied, readResult } from './stages/access.ts'
import { cache } from './stages/cache.ts'
import { changeHeader, readOtherHeaders, type Message } from './stages/headers.ts'
import {
  readAuth,
  readFollow,
  readOriginUrl,
  readRange,
  readTimeout,
} from './stages/origin-request.ts'
import { findExtension, origin } from './stages/origin.ts'
import {
  isDrag,
  isRefused,
  readCompression,
  readLocation,
  readOutcome,
  readRateLimit,
  readRedirect,
  readSettings,
  readSpeedLimit,
  readStatus,
  readTarget,
} from './stages/response.ts'
import { rewriteUrl } from './stages/seen.ts'
import { isStored, readErrorSeconds, readLifetime } from './stages/stored.ts'

/** An answer of a trace: where it stands, and how it is found. */
export interface Field {
  path: string
  stage: string
  name: string
  read: (run: Run) => Answer<unknown>
}

const { connectTimeout, ...targets } = origin

/** The answers by stage, in the order of the output; headers come beside them. */
const stages: Record<string, Record<string, Field['read']>> = {
  '': { outcome: readOutcome },
  connection: { decision: name(isRefused, 'open', 'refused'), settings: readSettings },
  access: { decision: name(isDenied, 'allowed', 'denied'), deciding: findDeciding },
  checks: Object.fromEntries(
    checkKeys.map((item) => [item, name((run) => readResult(run, item), 'pass', 'deny')]),
  ),
  redirect: {
    decision: name(
      (run) => map(readRedirect(run), (status) => status !== null),
      'none',
      'redirect',
    ),
    status: readRedirect,
    location: readTarget,
  },
  cache: { ...cache, errorSeconds: readErrorSeconds, lifetime: readLifetime, stored: isStored },
  origin: {
    ...targets,
    url: readOriginUrl,
    rewrite: (run) => rewriteUrl(run).rule,
    otherHeaders: (run) => readOtherHeaders(run, 'request'),
    auth: readAuth,
    range: readRange,
    follow: readFollow,
    timeout: readTimeout,
    connectTimeout,
  },
  response: {
    status: readStatus,
    location: readLocation,
    otherHeaders: (run) => readOtherHeaders(run, 'response'),
    compression: readCompression,
    speedLimit: readSpeedLimit,
    rateLimit: readRateLimit,
    drag: isDrag,
  },
}

/** Names a condition by two words. */
function name(read: (run: Run) => Answer<boolean>, no: string, yes: string): Field['read'] {
  return (run) => map(read(run), (holds) => (holds ? yes : no))
}

/** What R50 says by itself, whatever `extend` may change. */
const ofOrigin = new Set(Object.keys(origin).map((field) => `origin.${field}`))

/** All answers but those about headers. */
export const fields: readonly Field[] = Object.entries(stages).flatMap(([stage, named]) =>
  Object.entries(named).map(([field, read]) => createField(stage, field, read)),
)

const byPath = new Map(fields.map((field) => [field.path, field]))

/** Finds an answer by its path, such as `cache.key`. */
export function findField(path: string): Field | undefined {
  return byPath.get(path)
}

const headers = new Map<string, Field>()

/** The answer about a header of a message, also of one that no item names. */
export function getHeaderField(message: Message, header: string): Field {
  const stage = message === 'request' ? 'origin.headers' : 'response.headers'
  if (headers.size > 1000) headers.clear()
  return getOrAdd(headers, `${stage}.${header}`, () =>
    createField(stage, header, (run) => changeHeader(run, message, header)),
  )
}

function createField(stage: string, field: string, read: Field['read']): Field {
  const path = stage === '' ? field : `${stage}.${field}`
  const answer: Field['read'] = ofOrigin.has(path)
    ? read
    : (run) => findExtension(run, ['anything']) ?? read(run)
  return { path, stage, name: field, read: (run) => run.keep(path, answer) }
}
