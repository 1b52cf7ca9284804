import { didYouMean } from '../catalog/value/nearest.ts'
import { compile } from '../trace/compiled.ts'
import { buildSettings } from '../trace/settings.ts'
import type { Asked } from '../trace/trace.ts'

let names: string[] | undefined

/** Lists the answers of a trace, without headers, as tests name them: `access.checks.referer`. */
export function listFieldNames(): string[] {
  if (names !== undefined) return names
  const settings = buildSettings({ preset: 'usual', assume: {}, timezone: null })
  const { fields } = compile('www.example.com', new Map(), settings)
  return (names = fields.map(({ path }) => path.replace(/^checks\./, 'access.checks.')))
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
