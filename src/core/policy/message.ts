import {
  compileExpression,
  type Budget,
  type Expression,
  type ExpressionFault,
  type Variables,
} from './expression.ts'
import type { Subject } from './subject.ts'

/** Text of a violation, with the values of expressions. */
export type Message = (string | Expression)[]

/** Maximum length of a message with its values. */
const maxLength = 1000

/** Compiles a message: `${…}` holds an expression, `$${` stands for `${`. */
export function compileMessage(text: string, on: Subject): Message | ExpressionFault {
  const parts: Message = []
  // An expression ends at the first brace outside of a text.
  const pattern = /\$\$\{|\$\{((?:[^{}"']|"[^"]*"|'[^']*'|\{[^{}]*\})*)\}/g
  let end = 0
  for (const match of text.matchAll(pattern)) {
    const [whole, inner] = match
    parts.push(text.slice(end, match.index))
    end = match.index + whole.length
    if (inner === undefined) {
      parts.push('${')
      continue
    }
    const compiled = compileExpression(inner, on, 'any')
    if ('fault' in compiled) return { ...compiled, at: match.index + 2 + compiled.at }
    parts.push(compiled)
  }
  const open = text.indexOf('${', end)
  if (open !== -1) return { fault: 'this "${" has no "}". Write "$${" for the text.', at: open }
  return [...parts, text.slice(end)].filter((part) => part !== '')
}

/** Formats a message; a value that can't be had is shown with the reason. */
export function formatMessage(message: Message, values: Variables, budget: Budget): string {
  const texts = message.map((part) => {
    if (typeof part === 'string') return part
    const outcome = part.evaluate(values, budget)
    return 'fault' in outcome ? `(${part.text}: ${outcome.fault})` : formatValue(outcome.value)
  })
  const text = texts.join('')
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? Number(each) : each,
  )
}
