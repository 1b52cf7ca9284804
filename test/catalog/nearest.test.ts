import { expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { didYouMean } from '../../src/core/catalog/value/nearest.ts'

const zones = Intl.supportedValuesOf('timeZone')
const items = [...catalogue.keys()]

it.each([
  // One letter is missing, added, wrong, or in the place of the next one.
  ['htps', items, 'https'],
  ['ipblack_list', items, 'ip_black_list'],
  ['time-out', items, 'timeout'],
  ['orgiin', items, 'origin'],
  ['hots', ['host'], 'host'],
  ['pol', ['pool'], 'pool'],
  ['got', ['git', 'dir'], 'git'],
  ['Europe/Berln', zones, 'Europe/Berlin'],
  // Two slips in a longer name; one of them may be two letters in the wrong order.
  ['ip_blakc_lst', items, 'ip_black_list'],
  ['manifetss', ['manifests'], 'manifests'],
  ['visit_timstmap', items, 'visit_timestamp'],
  // The nearest of several.
  ['http', ['https', 'http2x'], 'https'],
])('of %s is the name that was meant', (word, candidates, meant) => {
  expect(didYouMean(word, candidates)).toBe(` Did you mean "${meant}"?`)
})

it.each([
  ['HTTPS', items, ' Did you mean "https"? Upper and lower case differ.'],
  ['MaxDomains', ['maxDomains'], ' Did you mean "maxDomains"? Upper and lower case differ.'],
  ['europe/berlin', zones, ' Did you mean "Europe/Berlin"? Upper and lower case differ.'],
])('of %s says that only the case differs', (word, candidates, hint) => {
  expect(didYouMean(word, candidates)).toBe(hint)
})

it.each([
  ['x', ['y', 'xy']],
  ['m', ['Y', 'M', 'D', 'h', 'i', 's']],
  ['no', ['on', 'off']],
  ['us', ['eu', 'asia']],
  ['list', ['first', 'waves']],
  ['margin', ['origin']],
  ['save', ['waves']],
  ['cache', items],
  ['items', items],
  ['redirect', items],
  ['timezone', ['timeout']],
  ['header', ['referer']],
  ['https', ['https']],
  ['', ['a', 'ab']],
  ['Mars/Phobos', zones],
  ['a'.repeat(100), ['a'.repeat(99)]],
])('of %s is none: no name is near', (word, candidates) => {
  expect(didYouMean(word, candidates)).toBe('')
})
