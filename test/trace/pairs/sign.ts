import { createHash } from 'node:crypto'
import type { Chance } from '../../simulation/chance.ts'
import type { Signing } from './draft.ts'

/** A path with its query, signed. */
export interface Signed {
  target: string
  /** The instant of the request, in Unix seconds. */
  at: number
  /** What the computation says of the signature; null if nothing is known of it. */
  truth: 'valid' | 'invalid' | null
}

/** Percent-encodes what a request may have in a URL although it has to be encoded. */
export function encodeOdd(target: string): string {
  return target.replaceAll(/(?:[ "<>`]|[^\0-\x7f])+/gu, encodeURIComponent)
}

/** Signs a path with its query: most often rightly and in time, else with some defect. */
export function signTarget(
  chance: Chance,
  target: string,
  signing: Signing,
  now: number,
  zone: string,
): Signed {
  const { deadtime } = signing
  const age = chance.pick([0, 1, 60, deadtime, deadtime, deadtime + 1, deadtime + 60, -1, -3600])
  const minute = signing.format === 'date_minute' ? now - (now % 60) : now
  const time = chance.happens(0.06)
    ? drawOddTime(chance)
    : formatTime(chance, signing, minute, zone)
  const [path, query] = splitTarget(target)
  const right = chance.happens(0.7)
  const signature = right ? computeSignature(chance, signing, path, time) : drawWrong(chance)
  const twisted = chance.happens(0.1)
  const truth = twisted ? null : right ? 'valid' : 'invalid'
  return {
    target: place(chance, { path, query, time, signature, signing, twisted }),
    at: minute + age,
    truth,
  }
}

function splitTarget(target: string): [string, string | undefined] {
  const end = target.indexOf('?')
  return end < 0 ? [target, undefined] : [target.slice(0, end), target.slice(end + 1)]
}

function computeSignature(chance: Chance, signing: Signing, path: string, time: string): string {
  const key = chance.pick(signing.keys)
  const uri = encodeOdd(path)
  const text = signing.style
    .replace('$ourkey', () => key)
    .replace('$uri', () => uri)
    .replace('$time', () => time)
  const hex = createHash('md5').update(text).digest('hex')
  return chance.happens(0.1) ? hex.toUpperCase() : hex
}

function drawWrong(chance: Chance): string {
  return chance.pick(['x', '0'.repeat(32), createHash('md5').update('wrong').digest('hex')])
}

function drawOddTime(chance: Chance): string {
  return chance.pick(['202302301200', '1234567890123', 'abc', '0', 'ffffffffff', '6553F10g', '-1'])
}

function formatTime(chance: Chance, { format }: Signing, time: number, zone: string): string {
  if (format === 'timestamp') return chance.pick(['', '', '', '0']) + String(time)
  if (format === 'timestamp_hex') {
    const hex = time.toString(16)
    return chance.happens(0.2) ? hex.toUpperCase() : hex
  }
  return formatInZone(time, zone).join('')
}

/** Formats an instant by the clock of a zone: year, month, day, hour, minute. */
export function formatInZone(time: number, timeZone: string): string[] {
  const two = '2-digit' as const
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    hourCycle: 'h23',
  }).formatToParts(time * 1000)
  return ['year', 'month', 'day', 'hour', 'minute'].map(
    (type) => parts.find((part) => part.type === type)?.value ?? '',
  )
}

interface Placed {
  path: string
  query: string | undefined
  time: string
  signature: string
  signing: Signing
  /** Whether the parts are in the other order, or not all there. */
  twisted: boolean
}

function place(chance: Chance, { path, query, time, signature, signing, twisted }: Placed): string {
  const { layout } = signing
  const keyFirst = (layout === 1 || layout === 4) !== twisted
  if (layout > 2) {
    const missing = twisted && chance.happens(0.3)
    const parts = missing ? [signature] : keyFirst ? [signature, time] : [time, signature]
    return `/${parts.join('/')}${path}${query === undefined ? '' : `?${query}`}`
  }
  const pairs = [`${signing.keyName}=${signature}`, `${signing.timeName}=${time}`]
  if (!keyFirst) pairs.reverse()
  // An argument of the same name before them would count in their place.
  const names = [signing.keyName, signing.timeName]
  const others = (query === undefined ? [] : query.split('&')).filter(
    (argument) => twisted || !names.includes(argument.split('=')[0] ?? ''),
  )
  if (twisted && chance.happens(0.4)) pairs.splice(chance.between(0, 1), 1)
  const at = chance.between(0, others.length)
  const between = twisted ? others.length : chance.between(at, others.length)
  const [first, ...second] = pairs
  const all = [...others.slice(0, at), first, ...others.slice(at, between), ...second]
  return `${path}?${[...all, ...others.slice(between)].join('&')}`
}
