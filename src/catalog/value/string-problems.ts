import { isObject, pointerStep, type Json, type JsonObject } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { doubtful, refused } from '../problems.ts'
import { formats } from './formats.ts'
import {
  alternative,
  annotations,
  entriesOf,
  holds,
  separator,
  type ItemSchema,
} from './item-schema.ts'
import { didYouMean } from './nearest.ts'
import { regexFault } from './regex.ts'
import { formatProblem, shown } from './schema-problems.ts'

interface Parent {
  schema: ItemSchema
  value: JsonObject
}

/**
 * Problems inside strings that JSON Schema can't see: entries of separated lists, ranges of numeric
 * strings, and patterns that another field turns into lists or regular expressions.
 */
export function stringProblems(
  schema: ItemSchema,
  value: Json,
  pointer = '',
  parent?: Parent,
): Problem[] {
  const chosen = alternative(schema, value)
  if (typeof value === 'string') {
    return [
      ...listProblems(chosen, value, pointer, parent),
      ...regexProblems(chosen, value, pointer, parent),
      ...rangeProblems(chosen, value, pointer),
    ]
  }
  if (Array.isArray(value))
    return value.flatMap((entry, i) => stringProblems(chosen.items ?? {}, entry, `${pointer}/${i}`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, field]) => {
    const known =
      chosen.properties !== undefined && Object.hasOwn(chosen.properties, key)
        ? chosen.properties[key]
        : undefined
    return known === undefined
      ? []
      : stringProblems(known, field, pointer + pointerStep(key), { schema: chosen, value })
  })
}

function listProblems(
  schema: ItemSchema,
  value: string,
  pointer: string,
  parent?: Parent,
): Problem[] {
  const by = separator(schema, parent)
  if (by === null) return []
  const { of, ofEnum, pathsWhen } = annotations(schema)
  const problems: Problem[] = []
  const entries = entriesOf(value, by)
  const between = by === ',' ? 'commas' : 'line breaks'
  const empty = refused(
    pointer,
    `expected entries separated by ${between}, got an empty one in ${shown(value)}`,
  )
  if (value !== '' && entries.every((entry) => entry === '')) return [empty]
  for (const entry of entries) {
    if (entry === '') {
      // The service refuses it; a manifest is read without it, and says so.
      problems.push(
        { ...empty, scope: 'wire' },
        doubtful(pointer, `${shown(value)} has an empty entry, which is left out`),
      )
    } else if (of !== undefined && !accepts(of, entry)) {
      problems.push(formatProblem(pointer, of, entry))
    } else if (ofEnum !== undefined && !ofEnum.includes(entry)) {
      const hint = didYouMean(entry, ofEnum) || ` It may be: ${ofEnum.join(', ')}.`
      problems.push(refused(pointer, `there is no "${entry}" in the list of names.${hint}`))
    } else if (pathsWhen !== undefined && holds(pathsWhen, parent) && !entry.startsWith('/')) {
      problems.push(
        doubtful(pointer, `directories and paths begin with "/", this one is ${shown(entry)}`),
      )
    }
  }
  return problems
}

function accepts(format: string, entry: string): boolean {
  return format in formats && formats[format as keyof typeof formats](entry)
}

function regexProblems(
  schema: ItemSchema,
  value: string,
  pointer: string,
  parent?: Parent,
): Problem[] {
  const { regexWhen } = annotations(schema)
  if (regexWhen === undefined || !holds(regexWhen, parent)) return []
  return regexFault(value) === null ? [] : [formatProblem(pointer, 'regex-any', value)]
}

function rangeProblems(schema: ItemSchema, value: string, pointer: string): Problem[] {
  const range = annotations(schema).range
  if (range === undefined || !/^\d+$/.test(value)) return []
  const [least, most] = range
  if ((least === null || Number(value) >= least) && (most === null || Number(value) <= most))
    return []
  const expected =
    most === null ? `a number of at least ${least ?? 0}` : `a number from ${least ?? 0} to ${most}`
  return [refused(pointer, `expected ${expected}, got ${shown(value)}`)]
}
