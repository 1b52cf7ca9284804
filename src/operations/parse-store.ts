import { explainVariables } from '../manifest/missing-value.ts'
import { parseWorkspaceConfig } from '../manifest/workspace-config.ts'
import { listVariables } from '../manifest/workspace-env.ts'
import type { StateConfig } from '../model/config.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Outside } from './outside.ts'

/** A store as it is configured in `edgewise.yaml`. */
export interface ChosenStore {
  state: StateConfig
  /** The lines for `edgewise.yaml`. */
  written: string
}

/**
 * Parses a place for state: `git:BRANCH`, `dir:PATH`, or the address of a database, which may be
 * `${env:NAME}`. It follows the rules of `state` in the workspace file.
 *
 * @throws EdgewiseError `usage`
 */
export function parseStore(text: string, env: Outside['env']): ChosenStore {
  const settings = readSettings(text)
  if (settings === null)
    throw new EdgewiseError(
      'usage',
      `the place for the state is not one of git:BRANCH, dir:PATH and the address of a database`,
      "Expected for example git:edgewise-state, dir:.edgewise/state or '${env:DATABASE_URL}'.",
    )
  const file = { path: '--to', text: JSON.stringify({ version: 1, state: settings }) }
  const parsed = parseWorkspaceConfig(file, env)
  if (parsed.config === null) {
    const details = parsed.diagnostics.map(({ detail }) => detail)
    throw new EdgewiseError('usage', `the place for the state is not valid: ${details.join(' ')}`)
  }
  const { state } = parsed.config
  if (state.store === 'postgres' && state.database === undefined)
    throw new EdgewiseError(
      'usage',
      `the place for the state is not known: ${explainVariables(listVariables(text), env)}`,
      'Set it to the address of the database.',
    )
  const lines = Object.entries(settings).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return { state, written: `state: {${lines.join(', ')}}` }
}

function readSettings(text: string): Record<string, string> | null {
  if (/^(?:postgres(?:ql)?:\/\/|\$\{env:)/.test(text)) return { store: 'postgres', url: text }
  const [, kind, place = ''] = /^(git|dir):(.+)$/s.exec(text) ?? []
  if (kind === undefined) return null
  return kind === 'git' ? { store: kind, branch: place } : { store: kind, path: place }
}
