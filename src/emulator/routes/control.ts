import { canonicalizeAddress } from '../../core/catalog/value/formats.ts'
import { getOwn, type Json, type JsonObject } from '../../core/model/json.ts'
import { parseUrl } from '../../core/model/text/url.ts'
import { canonicalizeItems } from '../entities/configure.ts'
import { parseFaults } from '../entities/fault.ts'
import type { SettableClock } from '../store/clock.ts'
import type { FaultPlan } from '../store/fault-plan.ts'
import type { Store } from '../store/store.ts'
import type { EmulatorRequest } from './exchange.ts'
import { parseControlBody } from './parse-parameters.ts'
import { Refusal } from './refusal.ts'

/** Parts of the service: its data, its clock and its faults. */
export interface Parts {
  store: Store
  clock: SettableClock
  faults: FaultPlan
}

const prefix = '/_emulator/'

/** Reports whether a path belongs to the control surface. */
export function isControlPath(path: string): boolean {
  return path.startsWith(prefix)
}

/**
 * Answers a call of the control surface: for tests and demonstrations, without token, for programs
 * on the same machine. Throws a Refusal: HTTP 404 for unknown paths, HTTP 400 for invalid bodies.
 */
export function answerControl(request: EmulatorRequest, parts: Parts, open: boolean): Json {
  const { method, path, peer } = request
  const { store } = parts
  if (!open) throw new Refusal('url-wrong', 'the control surface is closed')
  if (!isLoopback(peer))
    throw new Refusal('url-wrong', 'the control surface answers on loopback only')
  switch (`${method} ${path}`) {
    case 'GET /_emulator/state':
      return {
        domains: Object.fromEntries(
          store.listConfigured().map(([domain, items]) => [domain, canonicalizeItems(items)]),
        ),
      }
    case 'GET /_emulator/calls':
      return store.listCalls().map((call) => ({ ...call }))
    case 'POST /_emulator/reset':
      if (request.body.length > 0) parseControlBody(request)
      store.reset()
      parts.faults.reset()
      return { code: 0 }
    case 'POST /_emulator/faults':
      return setFaults(parseControlBody(request), parts)
    case 'POST /_emulator/clock':
      return setClock(parseControlBody(request), parts)
    case 'POST /_emulator/prefetch':
      return submit(parseControlBody(request), parts)
    case 'POST /_emulator/origins':
      return setOrigins(parseControlBody(request), parts)
    default:
      throw new Refusal('url-wrong', `there is no ${method} ${path}`)
  }
}

function setFaults(body: JsonObject, { faults }: Parts): Json {
  const parsed = parseFaults(body)
  if (typeof parsed === 'string') throw createInvalidRefusal(parsed)
  faults.replace(parsed)
  return { code: 0 }
}

/** Latest valid time, ms. */
const maxTime = 8.64e15 - 400 * 86_400_000

function setClock(body: JsonObject, { clock }: Parts): Json {
  refuseUnknown(body, ['advanceMs', 'now'])
  const [name, given] = Object.entries(body)[0] ?? []
  if (Object.keys(body).length !== 1 || typeof given !== 'number' || !Number.isSafeInteger(given)) {
    throw createInvalidRefusal(
      'expected either "advanceMs" or "now", a whole number of milliseconds',
    )
  }
  const now = name === 'now' ? given : clock.now() + given
  if (now < 0 || now > maxTime)
    throw createInvalidRefusal(`expected a time from 0 to ${maxTime}, got ${now}`)
  clock.set(now)
  return { code: 0, now }
}

function submit(body: JsonObject, { store, clock }: Parts): Json {
  refuseUnknown(body, ['task_id', 'urls'])
  const urls = parseTexts(body, 'urls')
  const malformed = urls.find((url) => !/^https?:\/\//i.test(url) || parseUrl(url) === null)
  if (urls.length === 0 || malformed !== undefined)
    throw createInvalidRefusal(
      `expected "urls" to be http or https URLs, got ${malformed ?? 'none'}`,
    )
  const task = getOwn(body, 'task_id')
  const id = typeof task === 'string' && /^[1-9]\d*$/.test(task) ? Number(task) : task
  if (id !== undefined && !(typeof id === 'number' && Number.isSafeInteger(id) && id > 0)) {
    throw createInvalidRefusal('expected "task_id" to be a whole number from 1')
  }
  return { code: 0, task_id: store.submitPrefetch(urls, id, clock.now()) }
}

function setOrigins(body: JsonObject, { store, clock }: Parts): Json {
  refuseUnknown(body, ['dead'])
  store.setDeadOrigins(parseTexts(body, 'dead').map(canonicalizeAddress), clock.now())
  return { code: 0, dead: store.listDeadOrigins() }
}

function parseTexts(body: JsonObject, name: string): string[] {
  const list = getOwn(body, name)
  if (!Array.isArray(list) || !list.every((entry) => typeof entry === 'string'))
    throw createInvalidRefusal(`expected "${name}" to be a list of texts`)
  return list
}

function refuseUnknown(body: JsonObject, known: string[]): void {
  const unknown = Object.keys(body).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw createInvalidRefusal(`there is no field "${unknown}"; expected ${known.join(' or ')}`)
}

function createInvalidRefusal(message: string): Refusal {
  return new Refusal('control-invalid', message)
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(address)
}
