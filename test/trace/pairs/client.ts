import { pickClue, type Draft } from './draft.ts'
import { agents, networks, refererHosts } from './words.ts'

const usualAddresses = networks.flat()

/** Draws an address in, at the edge of, or beside a listed network. */
export function drawAddress({ chance, clues }: Draft): string {
  const entry = pickClue<string>(chance, clues.addresses, usualAddresses)
  const [base = '', prefix] = entry.split('/')
  if (base.includes(':')) return drawSpelling(draftSpellings(base), chance.draw())
  const start = toNumber(base)
  const size = prefix === undefined ? 1 : 2 ** (32 - Number(prefix))
  const first = start - (start % size)
  const inside = first + chance.between(0, size - 1)
  const near = chance.pick([
    inside,
    inside,
    inside,
    first,
    first + size - 1,
    first - 1,
    first + size,
  ])
  const address = toText(Math.min(Math.max(near, 0), 2 ** 32 - 1))
  return chance.happens(0.08) ? `::ffff:${address}` : address
}

function draftSpellings(address: string): string[] {
  const next = address.endsWith('1') ? address.replace(/1$/, '2') : address
  return [address, address, address.toUpperCase(), next, '2001:db8:0:0:0:0:0:1', '2001:db8::2']
}

function drawSpelling(spellings: string[], draw: number): string {
  return spellings[Math.floor(draw * spellings.length)] ?? '::1'
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
}

function toText(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

/** Draws a Referer of a listed host, of a host beside it, or in an odd form. */
export function drawReferer({ chance, clues }: Draft): string {
  const entry = pickClue<string>(chance, clues.referers, refererHosts)
  const host = entry.replace('*.', () => chance.pick(['', 'a.', 'a.b.']))
  const near = chance.pick([host, host, host, `x${host}`, `a.${host}`, host.toUpperCase()])
  return chance.pick([
    `https://${near}/x`,
    `https://${near}/`,
    `http://${near}`,
    `http://${near}`,
    `HTTP://${near}:8080/a`,
    `https://u:p@${near}/`,
    `https://${near}?x`,
    `https://${near}#f`,
    `${near}/a`,
    near,
    `//${near}/x`,
    '',
    ' ',
    'about:blank',
    'https://',
    'https:///x',
    `android-app://${near}/`,
    `https://evil.net/?https://${near}/`,
    `https://é.net/${near}`,
  ])
}

/** Draws a User-Agent with the text of a rule, in some case. */
export function drawAgent({ chance, clues }: Draft): string {
  const entry = pickClue<string>(chance, clues.agents, agents)
  const plain = entry.replaceAll('\\d+', '7').replaceAll(/^\^|\$$/g, '')
  const near = [plain.toUpperCase(), plain.toLowerCase(), `x ${plain}`, `${plain}.1`, `${plain}é`]
  return chance.pick([entry, plain, plain, plain, plain, ...near, '', plain.slice(0, -1)])
}
