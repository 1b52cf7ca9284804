import { compileProgram, testMatch, type Program } from '../trace/regex/machine.ts'
import { parseCore } from '../trace/regex/syntax.ts'

const programs = new Map<string, Program>()
const maxPrograms = 1000

/**
 * Tests whether a part of a text matches a regular expression, in time in proportion to their
 * lengths.
 *
 * @param charge counts the work before it is done
 * @throws TypeError for an expression that engines read differently, such as one with `(?=`
 */
export function matchText(text: string, pattern: string, charge: (steps: number) => void): boolean {
  const program = programs.get(pattern) ?? compile(pattern)
  charge((program.steps.length * text.length) >> 5)
  return testMatch(program, text, false)
}

function compile(pattern: string): Program {
  const parsed = parseCore(pattern)
  if (parsed === null)
    throw new TypeError(
      `matches() can't use the expression ${JSON.stringify(pattern.slice(0, 100))}. Write it ` +
        'with characters, ".", classes, groups, "|" and quantifiers.',
    )
  const program = compileProgram(parsed.node, parsed.groups, false)
  if (programs.size >= maxPrograms) programs.clear()
  programs.set(pattern, program)
  return program
}
