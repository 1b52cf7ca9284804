import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Json, JsonObject } from '../../core/model/json.ts'

/** Parses `R4=search,R5=whole-url`; a list has `+` between its entries. */
export function readAssumptions(given: string[]): JsonObject {
  return Object.fromEntries(
    given
      .flatMap((each) => each.split(','))
      .map((each) => {
        const [written = '', ...rest] = each.split('=')
        const name = written.trim().replace(/^r(?=\d)/, 'R')
        const answer = rest.join('=').trim()
        if (answer === '')
          throw new EdgewiseError(
            'usage',
            `--assume needs READING=ANSWER, got ${JSON.stringify(each.slice(0, 100))}`,
          )
        return [name, parseAnswer(name, answer)]
      }),
  )
}

function parseAnswer(name: string, answer: string): Json {
  if (/^\d+$/.test(answer)) return Number(answer)
  const isList = answer.includes('+') || (name === 'unmanaged' && /_/.test(answer))
  return isList ? answer.split('+') : answer
}
