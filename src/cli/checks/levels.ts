import { type Levels, explainCode } from '../../core/checks/levels.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { LevelOptions } from '../commands/options.ts'

/**
 * Builds the levels of `-W` and `-E`.
 *
 * @throws EdgewiseError `usage` for a code whose level can't be set, or one with both options
 */
export function buildLevels({ warning, error }: LevelOptions): Levels {
  const both = warning.find((code) => error.includes(code))
  if (both !== undefined)
    throw new EdgewiseError('usage', `"${both}" has both -W and -E`, 'Pass one of them.')
  for (const code of [...warning, ...error]) {
    const fault = explainCode(code)
    if (fault !== null)
      throw new EdgewiseError('usage', `${warning.includes(code) ? '-W' : '-E'}: ${fault}`)
  }
  const list = (codes: string[], level: string) => codes.map((code) => [code, level])
  return Object.fromEntries([...list(warning, 'warning'), ...list(error, 'error')]) as Levels
}
