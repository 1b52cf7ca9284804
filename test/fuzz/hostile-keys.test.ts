// @module-tag often
// @module-tag nightly
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { isObject, type Json } from '../../src/core/model/json.ts'
import { everyNth } from '../runs.ts'
import { FuzzWorld } from './fuzz-world.ts'
import { buildKinds, type Kind } from './kinds.ts'

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']

const base: object = Object.prototype
const accessor = Object.getOwnPropertyDescriptor(base, '__proto__')
const inherited = Object.getOwnPropertyNames(base)

let world: FuzzWorld
let kinds: Kind[]
beforeAll(async () => {
  world = new FuzzWorld()
  kinds = await buildKinds(world)
  // `value['__proto__'] = part` would set the prototype, and reading it would return one.
  const refuse = () => {
    throw new TypeError('expected no access to the prototype of a value')
  }
  Object.defineProperty(base, '__proto__', { ...accessor, get: refuse, set: refuse })
})
afterAll(() => {
  Object.defineProperty(base, '__proto__', accessor ?? {})
  world.remove()
})

/** Builds each variant of a value in which one place has the name, as key or text. */
function* listVariants(value: Json, name: string): Generator<{ place: string; whole: Json }> {
  if (typeof value === 'string') yield { place: 'text', whole: name }
  if (typeof value !== 'object' || value === null) return
  const entries = Object.entries(value)
  if (isObject(value)) {
    yield { place: 'key', whole: Object.fromEntries([...entries, [name, {}]]) }
    yield { place: 'key with text', whole: Object.fromEntries([...entries, [name, 'x']]) }
    const [first, ...others] = entries
    if (first !== undefined)
      yield { place: 'other key', whole: Object.fromEntries([...others, [name, first[1]]]) }
  }
  // The entries of a list are alike.
  for (const [key, part] of Array.isArray(value) ? entries.slice(0, 1) : entries)
    for (const { place, whole } of listVariants(part, name)) {
      const replaced = entries.map(([each, old]) => [each, each === key ? whole : old] as const)
      yield {
        place: `${key}/${place}`,
        whole: Array.isArray(value)
          ? replaced.map(([, each]) => each)
          : Object.fromEntries(replaced),
      }
    }
}

/** Runs a kind with each variant, and returns those that were accepted. */
async function runVariants(kind: Kind, step: number): Promise<string[]> {
  const accepted: string[] = []
  for (const [index, text] of kind.texts.entries()) {
    let valid: Json
    try {
      valid = JSON.parse(text) as Json
    } catch (error) {
      if (error instanceof SyntaxError) continue
      throw error
    }
    const variants = names.flatMap((name) =>
      [...listVariants(valid, name)].map((variant) => ({ ...variant, name })),
    )
    for (const { place, whole, name } of everyNth(variants, step)) {
      try {
        await kind.run(JSON.stringify(whole), index)
        accepted.push(`${name} at ${place}`)
      } catch (error) {
        if (!(error instanceof EdgewiseError))
          throw new Error(`${name} at ${place}`, { cause: error })
      }
    }
  }
  return accepted
}

describe('a name that every object has', () => {
  it(
    'is refused as a key of sources and plans, and causes no stack trace anywhere',
    { tags: 'often' },
    async () => {
      for (const kind of kinds) {
        const accepted = await runVariants(kind, kind.name.startsWith('source') ? 211 : 61)
        const refused =
          kind.name === 'plan file'
            ? /^__proto__ at .*key/
            : kind.name.startsWith('source') && /key/
        if (refused !== false)
          expect([kind.name, accepted.filter((place) => refused.test(place))]).toEqual([
            kind.name,
            [],
          ])
      }
      expect(Object.getOwnPropertyNames(base)).toEqual(inherited)
    },
  )
})
