import { catalogue } from '../catalog/catalogue.ts'
import type { ItemSchema } from '../catalog/value/item-schema.ts'
import type { Place } from '../model/problem.ts'
import type { SourceFile } from './yaml-file.ts'

/**
 * The lines of files for messages. What stands after the name of a field that always holds a secret
 * is covered unless it is a reference; by the text alone, so that it holds in a file that is no
 * YAML as well.
 */
export function createSourceLineLookup(
  files: Iterable<SourceFile>,
): (place: Place) => string | null {
  const texts = new Map([...files].map((file) => [file.path, file.text]))
  return (place) => {
    const text = texts.get(place.file)
    if (text === undefined) return null
    const line = text.split('\n')[place.line - 1]
    return line === undefined ? null : covered(line.replace(/\r$/, ''))
  }
}

function covered(line: string): string {
  for (const match of line.matchAll(secretField())) {
    const start = match.index + match[0].length
    if (!/^["']?\$\{/.test(line.slice(start)))
      return line.slice(0, start) + line.slice(start).replaceAll(/\S/g, '*')
  }
  return line
}

let pattern: RegExp | undefined
function secretField(): RegExp {
  if (pattern !== undefined) return pattern
  const holders = [...catalogue.values()].filter((spec) => secretNamesIn(spec.schema).length > 0)
  const names = new Set(['token', ...holders.flatMap((spec) => secretNamesIn(spec.schema))])
  // An item that should have such fields, and has text or a list of it in their place, may well be
  // the secret itself.
  const whole = holders.map(
    (spec) => `${spec.key}["']?\\s*:(?!\\s*(?:$|[{&*#|>]|\\[\\s*(?:\\{|$)))`,
  )
  pattern = new RegExp(
    `(?<![\\w-])["']?(?:(?:${[...names].join('|')})["']?\\s*:|${whole.join('|')})\\s*`,
    'g',
  )
  return pattern
}

function secretNamesIn(schema: ItemSchema): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    field.writeOnly === true ? [name] : secretNamesIn(field),
  )
  return schema.items === undefined ? own : [...own, ...secretNamesIn(schema.items)]
}
