import { functions } from '../../core/policy/functions.ts'
import { levels, subjects } from '../../core/policy/subject.ts'
import { variables, type VariableName } from '../../core/policy/variables.ts'
import type { Paint } from '../../outlets/report/text/paint.ts'
import { wrap } from '../../outlets/report/text/wrap.ts'

/** A variable of policies, with its fields. */
export interface ExplainedVariable {
  name: VariableName
  on: readonly string[]
  description: string
  fields: { name: string; type: string; description: string }[]
}

/** Lists the variables of the expressions of policies. */
export function listPolicyVariables(): ExplainedVariable[] {
  return (Object.keys(variables) as VariableName[]).map((name) => {
    const { on, description, fields } = variables[name]
    const listed = Object.entries(fields ?? {}) as [string, readonly [string, string]][]
    return {
      name,
      on,
      description,
      fields: listed.map(([field, [type, text]]) => ({ name: field, type, description: text })),
    }
  })
}

/** A policy that shows each key. */
export const examplePolicy = `policy: no-plain-origin
level: hard
on: domain
when: has(config.origin) && domain.name.endsWith(".example.com")
deny: config.origin.origin_mode == "http"
message: "\${domain.name} fetches from its origin without TLS"
`

/** Formats how a policy is written: an example, the levels, and the variables. */
export function formatPolicyHelp(paint: Paint, columns: number): string {
  const lines = listPolicyVariables().flatMap(({ name, on, description, fields }) => [
    `${paint.bold(name)}  ${paint.dim(`on: ${on.join(', ')}`)}`,
    wrap(description.replaceAll('`', ''), columns, '    '),
    ...fields.map(({ name: field, type, description: text }) =>
      wrap(`${name}.${field} (${type}): ${text.replaceAll('`', '')}`, columns, '    '),
    ),
  ])
  const rules = [
    `level: ${levels.join(', ')}. on: ${subjects.join(', ')}.`,
    'when and deny are expressions in CEL. A missing key is an error, never a pass: test it with ' +
      'has(config.ITEM), or select with when.',
    `Functions: ${Object.keys(functions).join(', ')}.`,
  ]
  return (
    `${examplePolicy}\n${rules.map((rule) => wrap(rule, columns, '')).join('\n')}\n\n` +
    `${paint.bold('Variables')}\n${lines.join('\n')}\n`
  )
}
