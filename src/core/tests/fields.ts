import { didYouMean } from '../catalog/value/nearest.ts'
import { fields } from '../trace/fields.ts'
import type { Asked } from '../trace/trace.ts'

const names = fields.map(({ path }) => path.replace(/^checks\./, 'access.checks.'))

/** Lists the answers of a trace, without headers, as tests name them: `access.checks.referer`. */
export function listFieldNames(): string[] {
  return names
}

/** Finds the answer of a name; or explains that a trace has none. */
export function parseFieldName(name: string): Asked | { fault: string } {
  const pattern = /^(origin|response)\.headers\.([!#$%&'*+.^_`|~0-9A-Za-z-]+)$/
  const [, stage, header = ''] = pattern.exec(name) ?? []
  const message = stage === 'origin' ? 'request' : 'response'
  if (stage !== undefined)
    return { path: name.toLowerCase(), header: { message, name: header.toLowerCase() } }
  const known = listFieldNames()
  if (known.includes(name)) return { path: name.replace(/^access\.(?=checks\.)/, ''), header: null }
  const alike = known.filter(
    (each) => each.endsWith(`.${name}`) || each.split('.')[0] === name.split('.')[0],
  )
  const shown = alike.length > 0 ? alike : ['outcome', 'access.decision', 'cache.seconds', '…']
  const hint = didYouMean(name, known) || ` It has ${shown.join(', ')}.`
  return { fault: `a trace has no answer "${name.slice(0, 100)}".${hint}` }
}
