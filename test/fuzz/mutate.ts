import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { isObject } from '../../src/core/model/json.ts'
import type { Chance } from '../simulation/chance.ts'

/** Names that every object of a program has, or that change its prototype. */
export const hostileKeys = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'prototype',
  '$secret',
  '$append',
  '$prepend',
  '$unset',
  '',
  'a/b',
  '~0',
  '\u0000',
  'é',
]

/** Values that JSON can't be built from; texts stand for them until the end. */
const raw = new Map([
  ['@infinite@', () => '1e999'],
  ['@negative-zero@', () => '-0'],
  ['@deep-list@', () => '['.repeat(100_000) + ']'.repeat(100_000)],
  ['@deep-object@', () => '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
  ['@deep-enough@', () => '['.repeat(90) + ']'.repeat(90)],
  ['@long-list@', () => `[${'0,'.repeat(150_000)}0]`],
  ['@many-keys@', () => `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":0`).join(',')}}`],
  ['@long-text@', () => `"${'a'.repeat(300_000)}"`],
])

const plain: Json[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  2 ** 53,
  -1e308,
  1e-308,
  '',
  ' ',
  '0',
  '-1',
  'a',
  '\u0000',
  '\ud800',
  '\u202e',
  '\n',
  'é',
  '*',
  '.*',
  '(',
  '[a',
  '${domain}',
  '${env:HOME}',
  '${secret:signing}',
  '${var:x}',
  '${',
  '$${',
  '../..',
  '/dev/zero',
  'C:\\x',
  '%ff',
  '2026-13-45T99:99:99Z',
  '9'.repeat(400),
  'a.example.com',
  'A.EXAMPLE.COM',
  'xn--a',
  'a'.repeat(255),
  'scrypt:',
  'sha256:0',
  'edgewise.record/2',
  'edgewise.plan/2',
  'in-doubt',
  'confirmed',
  'unset',
  [],
  {},
  [null],
  [[]],
  [{}],
  { a: { b: {} } },
  { $secret: 'scrypt:x' },
  { $secret: 1 },
]

/** Maximum length of a text whose structure is changed; a longer one may nest too deep. */
const maxStructure = 100_000

/** Changes a text once to three times: its structure if it is JSON, else its characters. */
export function mutateText(text: string, chance: Chance): string {
  let mutated = text
  for (let left = chance.between(1, 3); left > 0; left--)
    mutated =
      chance.happens(0.75) && mutated.length < maxStructure
        ? mutateStructure(mutated, chance)
        : mutateBytes(mutated, chance)
  return mutated
}

function mutateStructure(text: string, chance: Chance): string {
  let whole: Json
  try {
    whole = JSON.parse(text) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return mutateBytes(text, chance)
    throw error
  }
  const target = chance.between(0, Math.min(countNodes(whole, 0), 100_000) - 1)
  let seen = -1
  const change = (node: Json, level: number): Json => {
    seen++
    if (seen === target) return mutateNode(node, chance)
    if (level > 200) return node
    if (Array.isArray(node)) return node.map((entry) => change(entry, level + 1))
    return isObject(node)
      ? Object.fromEntries(
          Object.entries(node).map(([key, field]) => [key, change(field, level + 1)]),
        )
      : node
  }
  return formatRaw(change(whole, 0))
}

function countNodes(node: Json, level: number): number {
  if (typeof node !== 'object' || node === null || level > 200) return 1
  return Object.values(node).reduce((sum: number, each) => sum + countNodes(each, level + 1), 1)
}

function mutateNode(node: Json, chance: Chance): Json {
  if (chance.happens(0.4) || typeof node !== 'object' || node === null) return drawValue(chance)
  if (Array.isArray(node)) return mutateList(node, chance)
  return mutateObject(node, chance)
}

function mutateList(list: Json[], chance: Chance): Json {
  const at = chance.between(0, list.length)
  const [before, after] = [list.slice(0, at), list.slice(at)]
  const kind = chance.pick(['delete', 'duplicate', 'insert', 'reverse'] as const)
  if (kind === 'reverse') return list.toReversed()
  if (kind === 'delete') return [...before, ...after.slice(1)]
  return [...before, ...(kind === 'duplicate' ? after.slice(0, 1) : [drawValue(chance)]), ...after]
}

/** Deletes, renames, duplicates or adds a key. Entries keep `__proto__` an own key. */
function mutateObject(object: JsonObject, chance: Chance): Json {
  const entries = Object.entries(object)
  const key = chance.happens(0.7) ? chance.pick(hostileKeys) : `x${chance.between(0, 9)}`
  const kind = chance.pick(['delete', 'rename', 'add', 'copy'] as const)
  const at = chance.between(0, Math.max(0, entries.length - 1))
  const [chosen] = entries.slice(at, at + 1)
  if (chosen === undefined || kind === 'add')
    return Object.fromEntries([...entries, [key, drawValue(chance)]])
  if (kind === 'copy') return Object.fromEntries([...entries, [key, chosen[1]]])
  const others = entries.filter((entry) => entry !== chosen)
  return Object.fromEntries(kind === 'delete' ? others : [...others, [key, chosen[1]]])
}

function drawValue(chance: Chance): Json {
  // Large values take long, so they are rare.
  if (chance.happens(0.03)) return chance.pick([...raw.keys()])
  return chance.happens(0.2) ? chance.pick(hostileKeys) : chance.pick(plain)
}

function formatRaw(value: Json): string {
  return JSON.stringify(value).replace(/"(@[a-z-]+@)"/g, (text, name: string) => {
    const build = raw.get(name)
    return build === undefined ? text : build()
  })
}

function mutateBytes(text: string, chance: Chance): string {
  const at = chance.between(0, text.length)
  const end = Math.min(text.length, at + chance.between(1, 20))
  switch (chance.pick(['delete', 'insert', 'repeat', 'cut', 'swap'] as const)) {
    case 'delete':
      return text.slice(0, at) + text.slice(end)
    case 'insert':
      return text.slice(0, at) + chance.pick(fragments) + text.slice(at)
    case 'repeat':
      return text.slice(0, end) + text.slice(at)
    case 'cut':
      return text.slice(0, at)
    case 'swap':
      return (
        text.slice(0, at) + text.slice(at, end).split('').toReversed().join('') + text.slice(end)
      )
  }
}

const fragments = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  "'",
  '\\',
  '\u0000',
  '\ufeff',
  '\ufffd',
  '\n',
  '\t',
  '\r',
  '- ',
  '? ',
  '&a ',
  '*a',
  '!!binary ',
  '!!js/function ',
  '<<: ',
  '---\n',
  '...\n',
  '%YAML 9\n',
  '1e999',
  '0x',
  '"__proto__":{},',
  '__proto__: {}\n',
  '\u2028',
  '|2\n',
  '>-\n',
  '#',
]
