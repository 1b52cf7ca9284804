import type { EmulatorAnswer } from '../../src/emulator/routes/exchange.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

export interface ExtendedWorld extends World {
  /** Sends a call with a JSON body (none for null) and the token in its query. */
  send(
    call: `${'GET' | 'POST' | 'DELETE'} ${string}`,
    body?: Json,
  ): Promise<EmulatorAnswer & { body: Json }>
  /** Reads the stored configuration of a domain; undefined for an unknown one. */
  read(domain: string, query?: string): Promise<Json | undefined>
}

/** Creates a service that offers more than the specification. */
export function createExtendedWorld(options: WorldOptions = {}): ExtendedWorld {
  const world = createWorld({ extended: true, ...options })
  const send: ExtendedWorld['send'] = (call, body = null) => {
    const [method = '', url = ''] = call.split(' ')
    const [path = '', query = ''] = url.split('?')
    return world.request({
      method,
      path,
      query: `${query}${query === '' ? '' : '&'}token=tok`,
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    })
  }
  return {
    ...world,
    send,
    read: async (domain, query = '') => {
      const answer = await send(`GET /v2/domain/config?domains=${domain}${query}`)
      return listEntries(answer.body)[0]?.['config']
    },
  }
}

/** Returns `data` of an answer: an object. */
export function getData(body: Json): JsonObject {
  const data = isObject(body) ? body['data'] : undefined
  if (data === undefined || !isObject(data)) throw new Error(`no data in ${JSON.stringify(body)}`)
  return data
}

/** Returns `data` of an answer: a list of objects. */
export function listEntries(body: Json): JsonObject[] {
  const data = isObject(body) ? body['data'] : undefined
  if (!Array.isArray(data)) throw new Error(`no list in ${JSON.stringify(body)}`)
  return data.filter((entry) => isObject(entry))
}
