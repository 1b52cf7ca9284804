import { isObject, type JsonObject } from '../model/json.ts'
import type { Trace } from '../trace/trace.ts'
import type { DecidingRule } from './results.ts'

/** Parts of items that decide an answer, by its name; where a rule does, it is named first. */
const readers: [name: RegExp, parts: string[]][] = [
  [/^connection\./, ['https/cert_id']],
  [/^(?:redirect\.|outcome)/, ['https/force_https']],
  [/^cache\.key/, ['cache_share']],
  [/^cache\.(?:errorSeconds|lifetime|stored)/, ['cache_error_code', 'error_bcache']],
  [/^origin\.url/, ['source_url_rewrite', 'cache_rule_list', 'cache_rule']],
  [/^origin\.auth/, ['vendor_origin_auth']],
  [/^origin\.range/, ['range_back_source']],
  [/^origin\.follow/, ['forward_status']],
  [/^origin\.timeout/, ['timeout']],
  [/^origin\.connectTimeout/, ['connect_timeout']],
  [/^origin\.host/, ['origin_host']],
  [/^origin\.(?:main|backups|protocol|port|item|host)/, ['new_origin', 'tos_origin', 'origin']],
  [/^origin\.headers/, ['add_back_source_head', 'head_control', 'client_real_ip']],
  [/^response\.headers/, ['add_response_head', 'head_control']],
  [/^response\.(?:status|location)/, ['https', 'error_page_rewrite']],
  [/^response\.compression/, ['smart_compression', 'compress_response']],
  [/^response\.speedLimit/, ['speed_limit']],
  [/^response\.rateLimit/, ['rate_limit']],
  [/^response\.drag/, ['video_drag']],
]

/**
 * Finds what an answer rests on: the rules that decide it; otherwise the items that could, set or
 * not. Pointers are those of the canonical value.
 *
 * @param path name of the answer, as in `Asked`
 */
export function findDeciding({ checks, replies }: Trace, path: string): DecidingRule[] {
  const read = (name: string) => {
    const reply = replies.get(name)
    const value = reply !== undefined && 'value' in reply ? reply.value : null
    return isObject(value) ? [toRule(value)] : []
  }
  const only = /^checks\.(.*)/.exec(path)?.[1]
  const parts = readers.flatMap(([name, found]) => (name.test(path) ? found : []))
  const items = parts.map((part) => {
    const [item = ''] = part.split('/')
    return { item, pointer: part.slice(item.length) }
  })
  const isOfAccess = only !== undefined || path.startsWith('access.')
  if (isOfAccess || /^(?:outcome|response\.(?:status|location))$/.test(path)) {
    const asked = checks.filter(({ item, state }) =>
      only === undefined ? state === 'set' || state === 'in-doubt' : item === only,
    )
    const result = (item: string) => replies.get(`checks.${item}`) ?? { unknown: [] }
    const denying = asked.filter(({ item }) => {
      const reply = result(item)
      return 'value' in reply && reply.value === 'deny'
    })
    const unknown = asked.filter(({ item }) => 'unknown' in result(item))
    const others = path.startsWith('response.') ? [] : asked
    const shown = [denying, unknown, others].find(({ length }) => length > 0) ?? []
    const found = shown.map(({ item, rule, exempt }) =>
      toRule({ item, pointer: '', ...(exempt ?? rule) }),
    )
    return [...found, ...(denying.length > 0 ? [] : items)]
  }
  const isOfRule = /^(?:cache\.(?!errorSeconds)|origin\.url)/.test(path)
  const rules = isOfRule ? [...read('origin.rewrite'), ...read('cache.rule')] : []
  if (rules.length > 0) return [...rules, ...items.filter(({ item }) => item === 'cache_share')]
  const lists = ['cache_rule_list', 'cache_rule'].map((item) => ({ item, pointer: '' }))
  return isOfRule && path !== 'origin.url' ? [...lists, ...items] : items
}

function toRule({ item, pointer, pattern }: JsonObject): DecidingRule {
  const text = typeof pattern === 'string' ? { pattern } : {}
  return { item: String(item), pointer: String(pointer), ...text }
}
