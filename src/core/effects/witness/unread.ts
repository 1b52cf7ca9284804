import type { NewOrigin } from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { ItemKey } from '../../model/item.ts'
import { isObject, isSameJson, type Json, toList } from '../../model/json.ts'
import { matchHost } from '../../trace/match/host.ts'
import { lowerAscii } from '../../model/text/lower-ascii.ts'
import type { Settings } from '../../trace/readings.ts'
import { antiLeechKeys, checkKeys } from '../../trace/check-keys.ts'
import type { Compiled } from '../../trace/trace.ts'
import { readCase } from '../patterns/languages.ts'
import type { Sides } from '../sides.ts'
import { readCertain } from './matching.ts'

/** Tests whether other items keep an item from being read, on both sides alike. */
export function isUnread({ before, after }: Sides, key: ItemKey): boolean {
  return isUnreadIn(before, key) && isUnreadIn(after, key)
}

function isUnreadIn(compiled: Compiled, key: ItemKey): boolean {
  const { answers } = compiled.settings
  const isSet = (other: ItemKey) => readCertain(compiled, other) !== null
  const origins = rankOrigins(answers[51])
  // With a set extension all answers are unknown, not equal.
  const used = isSet('extend') ? undefined : origins.find(isSet)
  if (origins.includes(key))
    return used !== undefined && origins.indexOf(used) < origins.indexOf(key)
  if (key === 'origin_host' && used === 'tos_origin') return answers[56] === 'domain'
  if (key === 'origin_host' && used === 'new_origin')
    return castAccepted<NewOrigin>(readCertain(compiled, used)).every(
      ({ host = '' }) => host !== '',
    )
  if (key === 'connect_timeout') return answers[68] === 'new_origin' && used === 'new_origin'
  if (key === 'compress_response') return answers[72] === 'smart' && isSet('smart_compression')
  if (key === 'visit_deny_whitelist') return !exempts(answers[18]).some(isSet)
  return false
}

/** The checks from which an exemption may exempt (R18). */
function exempts(reach: Json | undefined): readonly ItemKey[] {
  return reach === 'anti-leech' ? antiLeechKeys : checkKeys
}

/** The items of the origin, the one that counts first (R51). */
function rankOrigins(order: Json | undefined): ItemKey[] {
  if (order === 'tos-first') return ['tos_origin', 'new_origin', 'origin']
  if (order === 'tos-second') return ['new_origin', 'tos_origin', 'origin']
  return ['new_origin', 'origin', 'tos_origin']
}

/** Leaves out what is not read of an effective form, and the entries that others cover. */
export function reduceCovered(key: ItemKey, form: Json, settings: Settings): Json {
  const { answers } = settings
  if (key === 'combined_ban' && Array.isArray(form) && answers[23] === 'all')
    return form.filter((ban) => !form.some((other) => other !== ban && isWider(other, ban)))
  if (!isObject(form)) return form
  if (key === 'video_drag' && answers[77] === 'start') {
    const { end: _, ...read } = form
    return read
  }
  const drop = (name: string, covers: (wide: string, narrow: string) => boolean): Json => {
    const list = toList(form[name])
    const texts = list.filter((each) => typeof each === 'string')
    const kept = list.filter(
      (each) =>
        typeof each !== 'string' || !texts.some((other) => other !== each && covers(other, each)),
    )
    return { ...form, [name]: kept }
  }
  if (key === 'referer')
    return drop(
      'list',
      (wide, narrow) => wide.startsWith('*.') && matchHost(wide, narrow.replace(/^\*\./, '')),
    )
  if (key !== 'user_agent' || form['ua_match_type'] !== 'pattern' || answers[26] !== 'text')
    return form
  const isFolded = readCase(`R25:${String(form['ua_case_insensitive'])}`, settings)
  const write = (text: string) => (isFolded ? lowerAscii(text) : text)
  return drop(
    'lines',
    (wide, narrow) => wide.length < narrow.length && write(narrow).includes(write(wide)),
  )
}

/** Tests whether each condition of a ban is one of another ban, too. */
function isWider(wide: Json, narrow: Json): boolean {
  if (!isObject(wide) || !isObject(narrow)) return false
  return Object.entries(wide).every(([name, part]) => isSameJson(part, narrow[name]))
}
