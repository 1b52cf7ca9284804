import { catalogue } from '../catalog/catalogue.ts'
import { isUnit } from '../catalog/value/item-schema.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import type { Subject } from './subject.ts'

/** A variable of expressions. */
interface Variable {
  /** The policies that have it, by what they judge. */
  on: readonly Subject[]
  description: string
  /** Its fields, with type and description; null if they are not fixed. */
  fields: Readonly<Record<string, readonly [type: string, description: string]>> | null
}

/** The variables of the expressions of policies. */
export const variables = {
  domain: {
    on: ['domain', 'change', 'request'],
    description: 'The domain.',
    fields: { name: ['string', 'Name of the domain, in lower case.'] },
  },
  config: {
    on: ['domain', 'change', 'request'],
    description:
      'The merged configuration of the domain, in canonical form: `config.ITEM.FIELD`. It has ' +
      'only items that are managed; a whole number is an int, a text with several entries a ' +
      'list, a time an int of seconds without its unit, a secret a map with `$secret`.',
    fields: null,
  },
  change: {
    on: ['change'],
    description: 'One change of a plan: an item of a domain.',
    fields: {
      domain: ['string', 'Name of the domain.'],
      item: ['string', 'Name of the item.'],
      action: ['string', '`set`, `change`, `unset` or `release`.'],
      reason: ['string', '`differs`, `in-doubt`, `cleared` or `secret-unknown`.'],
      before: ['dyn', 'Recorded value; null if there is none.'],
      after: ['dyn', 'Desired value; null if there is none.'],
    },
  },
  write: {
    on: ['write'],
    description: 'One write of a plan.',
    fields: {
      id: ['int', 'Position in the plan, from 1.'],
      wave: ['int', 'Number of its wave, from 1.'],
      domains: ['list', 'Names of its domains.'],
      items: ['list', 'Names of its items.'],
      forms: ['map', 'Form of each item, such as `replace` or `append`.'],
    },
  },
  plan: {
    on: ['plan'],
    description: 'The whole plan.',
    fields: {
      domains: ['list', 'Names of the domains with a change.'],
      items: ['list', 'Names of the items with a change.'],
      changes: ['list', 'Its changes, each as `change`.'],
      writes: ['list', 'Its writes, each as `write`.'],
      waves: ['int', 'Number of its waves.'],
      impact: [
        'map',
        'Its traffic: `unknown` domains without a figure, `top` among the ten largest, ' +
          '`requests` of a day and their `share` of the account. With unknown domains it has no ' +
          '`requests` and no `share`.',
      ],
    },
  },
  request: {
    on: ['request'],
    description: 'The request that is traced, with the keys of its file: `url`, `method`, …',
    fields: null,
  },
  trace: {
    on: ['request'],
    description: 'What `edgewise trace --json` prints for the request.',
    fields: null,
  },
} as const satisfies Record<string, Variable>

/** Name of a variable. */
export type VariableName = keyof typeof variables

/** Lists the variables of policies that judge a subject. */
export function listVariables(on: Subject): VariableName[] {
  return (Object.keys(variables) as VariableName[]).filter((name) =>
    (variables[name].on as readonly Subject[]).includes(on),
  )
}

/**
 * Explains why nothing can ever have a path of an expression, such as `config.orgin`; null if
 * something may.
 */
export function explainPath([name = '', step, field]: readonly string[]): string | null {
  if (step === undefined) return null
  if (name !== 'config') {
    const fields = (variables as Record<string, Variable>)[name]?.fields
    if (fields == null || Object.hasOwn(fields, step)) return null
    const known = Object.keys(fields)
    return `"${name}" has no "${step}".${didYouMean(step, known) || ` It has ${known.join(', ')}.`}`
  }
  const spec = catalogue.get(step)
  if (spec === undefined) return `there is no item "${step}".${didYouMean(step, catalogue.keys())}`
  const { type, properties = {} } = spec.schema
  if (field !== undefined && isUnit(spec.schema, field))
    return `the times of "${step}" are in seconds and have no "${field}".`
  if (field === undefined || type !== 'object' || Object.hasOwn(properties, field)) return null
  const hint = didYouMean(field, Object.keys(properties))
  return `the item "${step}" has no field "${field}".${hint}`
}
