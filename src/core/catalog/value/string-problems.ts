import type { Problem } from '../../model/problem.ts'
import { warn, describeRefusal } from '../problems.ts'
import { formats } from './formats.ts'
import { getAnnotations, splitEntries, holds, findSeparator, type Leaf } from './item-schema.ts'
import { didYouMean } from './nearest.ts'
import { findRegexFault } from './regex.ts'
import { createFormatProblem, describeValue } from './schema-problems.ts'

/**
 * Finds problems inside strings that JSON Schema can't express: entries of separated lists, ranges
 * of numeric strings, and patterns that another field turns into lists or regular expressions.
 */
export function findStringProblems(leaves: Leaf[]): Problem[] {
  return leaves
    .filter(isText)
    .flatMap((text) => [...checkList(text), ...checkRegex(text), ...checkRange(text)])
}

interface Text extends Leaf {
  value: string
}

function isText(leaf: Leaf): leaf is Text {
  return typeof leaf.value === 'string'
}

/** Finds control characters and final line ends, which nobody means in a manifest. */
export function findControls(leaves: Leaf[]): Problem[] {
  return leaves.filter(isText).flatMap(checkControls)
}

const control = /[\p{Cc}\u2028\u2029]/u

function checkControls({ schema, value, pointer, parent }: Text): Problem[] {
  if (!control.test(value)) return []
  const hasLines = getAnnotations(schema).lines || findSeparator(schema, parent) === '\n'
  const text = hasLines ? value.replace(/[\t\r\n]/g, ' ') : value
  const char = control.exec(text)?.[0]
  if (char === undefined) return []
  const escape =
    char < ' '
      ? JSON.stringify(char).slice(1, -1)
      : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  const detail = /^\P{Cc}*[\r\n]+$/u.test(text)
    ? 'expected no line end behind the text, got one. Write "|-" for "|", or ">-" for ">".'
    : `expected no control character, got "${escape}". If a backslash is meant, write ` +
      `"\\${escape}", or use single quotes.`
  return [{ ...warn(pointer, detail), severity: 'error' }]
}

function checkList({ schema, value, pointer, parent }: Text): Problem[] {
  const by = findSeparator(schema, parent)
  if (by === null) return []
  const { of, ofEnum, pathsWhen, when } = getAnnotations(schema)
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
    } else if (when !== undefined) {
      const isPath = pathsWhen !== undefined && holds(pathsWhen, parent)
      const isOdd = (isPath ? oddPath : oddSuffix).test(entry)
      const fault = isOdd
        ? notLiteral
        : isPath && !entry.startsWith('/')
          ? 'directories and paths should begin with "/"'
          : null
      if (fault !== null) problems.push(warn(pointer, `${fault}, got ${describeValue(entry)}`))
    }
  }
  return problems
}

const notLiteral = 'commas separate entries, and each is read as it is, not as an expression'
const oddSuffix = /[^\w.+-]/
const oddPath = /^\^|\$$|[\\|]|[;\s]\//

function isAccepted(format: string, entry: string): boolean {
  return format in formats && formats[format as keyof typeof formats](entry)
}

function checkRegex({ schema, value, pointer, parent }: Text): Problem[] {
  const { regexWhen } = getAnnotations(schema)
  if (regexWhen === undefined ? schema.format !== 'regex-any' : !holds(regexWhen, parent)) return []
  if (findRegexFault(value) !== null) return [createFormatProblem(pointer, 'regex-any', value)]
  // What is escaped or in a class is meant as it is.
  const bare = value.replace(/\\.|\[[^[\]]*\]/g, '_')
  const fault = /^\/\^|\$\/[a-z]*$|^\/[^/]+\/[gi]+$/.test(bare)
    ? 'slashes and flags around an expression are read as a part of it'
    : /\(\?[a-z-]+[:)]/.test(bare)
      ? 'not every dialect reads flags such as "(?i)"; the service names none'
      : null
  return fault === null ? [] : [warn(pointer, `${fault}, got ${describeValue(value)}`)]
}

function checkRange({ schema, value, pointer }: Text): Problem[] {
  const range = getAnnotations(schema).range
  if (range === undefined || !/^\d+$/.test(value)) return []
  const [min, max] = range
  if ((min === null || Number(value) >= min) && (max === null || Number(value) <= max)) return []
  const expected =
    max === null ? `a number of at least ${min ?? 0}` : `a number from ${min ?? 0} to ${max}`
  return [describeRefusal(pointer, `expected ${expected}, got ${describeValue(value)}`)]
}
