import { isObject, type Json } from '../model/json.ts'
import { parseAddress } from '../trace/request.ts'
import type { SideAnswer } from './compare.ts'
import type { EffectGroup, Effects } from './group.ts'

/** Hides what requests have of clients: values of queries, and addresses. */
export function hideRequests(effects: Effects): Effects {
  return { ...effects, groups: effects.groups.map(hideGroup) }
}

function hideGroup(group: EffectGroup): EffectGroup {
  return {
    ...group,
    examples: [...new Set(group.examples.map(hideUrl))],
    deltas: group.deltas.map((delta) => ({
      ...delta,
      before: hideAnswer(delta.field, delta.before),
      after: hideAnswer(delta.field, delta.after),
    })),
  }
}

function hideAnswer(field: string, answer: SideAnswer): SideAnswer {
  if ('unknown' in answer) return answer
  const { value } = answer
  if (field === 'cache.key' && isObject(value) && typeof value['query'] === 'string')
    return { value: { ...value, query: hideQuery(value['query']) } }
  if (typeof value === 'string') return { value: hideUrl(value) }
  return field.startsWith('origin.headers.') && Array.isArray(value)
    ? { value: value.map(hideAddress) }
    : answer
}

function hideAddress(value: Json): Json {
  return typeof value === 'string' && parseAddress(value) !== null ? '(address)' : value
}

/** Hides the values of the query of a URL, and its fragment. */
export function hideUrl(url: string): string {
  const [whole = ''] = url.split('#', 1)
  const at = whole.indexOf('?')
  return at < 0 ? whole : `${whole.slice(0, at + 1)}${hideQuery(whole.slice(at + 1))}`
}

/** Hides the values of a query; an argument without `=` is a value. */
function hideQuery(query: string): string {
  if (query === '') return ''
  return query
    .split('&')
    .map((argument) => {
      const at = argument.indexOf('=')
      return at < 0 ? '…' : `${argument.slice(0, at)}=…`
    })
    .join('&')
}
