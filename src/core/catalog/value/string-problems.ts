import { isObject, formatPointerStep, type Json, type JsonObject } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { warn, describeRefusal } from '../problems.ts'
import { formats } from './formats.ts'
import {
  chooseAlternative,
  getAnnotations,
  splitEntries,
  holds,
  findSeparator,
  type ItemSchema,
} from './item-schema.ts'
import { didYouMean } from './nearest.ts'
import { findRegexFault } from './regex.ts'
import { createFormatProblem, describeValue } from './schema-problems.ts'

interface Parent {
  schema: ItemSchema
  value: JsonObject
}

/**
 * Finds problems inside strings that JSON Schema can't express: entries of separated lists, ranges
 * of numeric strings, and patterns that another field turns into lists or regular expressions.
 */
export function findStringProblems(
  schema: ItemSchema,
  value: Json,
  pointer = '',
  parent?: Parent,
): Problem[] {
  const chosen = chooseAlternative(schema, value)
  if (typeof value === 'string') {
    return [
      ...checkList(chosen, value, pointer, parent),
      ...checkRegex(chosen, value, pointer, parent),
      ...checkRange(chosen, value, pointer),
    ]
  }
  if (Array.isArray(value))
    return value.flatMap((entry, i) =>
      findStringProblems(chosen.items ?? {}, entry, `${pointer}/${i}`),
    )
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, field]) => {
    const known =
      chosen.properties !== undefined && Object.hasOwn(chosen.properties, key)
        ? chosen.properties[key]
        : undefined
    return known === undefined
      ? []
      : findStringProblems(known, field, pointer + formatPointerStep(key), {
          schema: chosen,
          value,
        })
  })
}

function checkList(schema: ItemSchema, value: string, pointer: string, parent?: Parent): Problem[] {
  const by = findSeparator(schema, parent)
  if (by === null) return []
  const { of, ofEnum, pathsWhen } = getAnnotations(schema)
  const problems: Problem[] = []
  const entries = splitEntries(value, by)
  const between = by === ',' ? 'commas' : 'line breaks'
  const empty = describeRefusal(
    pointer,
    `expected entries separated by ${between}, got an empty one in ${describeValue(value)}`,
  )
  if (value !== '' && entries.every((entry) => entry === '')) return [empty]
  for (const entry of entries) {
    if (entry === '') {
      // The service refuses an empty entry; a manifest drops it with a warning.
      problems.push(
        { ...empty, scope: 'wire' },
        warn(pointer, `${describeValue(value)} has an empty entry, which is ignored`),
      )
    } else if (of !== undefined && !isAccepted(of, entry)) {
      problems.push(createFormatProblem(pointer, of, entry))
    } else if (ofEnum !== undefined && !ofEnum.includes(entry)) {
      const hint = didYouMean(entry, ofEnum) || ` Allowed: ${ofEnum.join(', ')}.`
      problems.push(describeRefusal(pointer, `unknown name "${entry}".${hint}`))
    } else if (pathsWhen !== undefined && holds(pathsWhen, parent) && !entry.startsWith('/')) {
      problems.push(
        warn(pointer, `directories and paths should begin with "/", got ${describeValue(entry)}`),
      )
    }
  }
  return problems
}

function isAccepted(format: string, entry: string): boolean {
  return format in formats && formats[format as keyof typeof formats](entry)
}

function checkRegex(
  schema: ItemSchema,
  value: string,
  pointer: string,
  parent?: Parent,
): Problem[] {
  const { regexWhen } = getAnnotations(schema)
  if (regexWhen === undefined || !holds(regexWhen, parent)) return []
  return findRegexFault(value) === null ? [] : [createFormatProblem(pointer, 'regex-any', value)]
}

function checkRange(schema: ItemSchema, value: string, pointer: string): Problem[] {
  const range = getAnnotations(schema).range
  if (range === undefined || !/^\d+$/.test(value)) return []
  const [min, max] = range
  if ((min === null || Number(value) >= min) && (max === null || Number(value) <= max)) return []
  const expected =
    max === null ? `a number of at least ${min ?? 0}` : `a number from ${min ?? 0} to ${max}`
  return [describeRefusal(pointer, `expected ${expected}, got ${describeValue(value)}`)]
}
