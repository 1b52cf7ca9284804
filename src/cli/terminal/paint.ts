import picocolors from 'picocolors'
import { plainPaint, type Paint } from '../../report/text/paint.ts'

/** Colours for a stream: only on a terminal, and neither with `--no-color` nor with NO_COLOR. */
export function createPaint(
  isTerminal: boolean,
  wanted: boolean,
  env: Record<string, string | undefined>,
): Paint {
  const on =
    wanted &&
    (env['FORCE_COLOR']
      ? env['FORCE_COLOR'] !== '0'
      : isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb')
  if (!on) return plainPaint
  const { bold, dim, red, green, yellow, cyan } = picocolors.createColors(true)
  return { bold, dim, red, green, yellow, cyan }
}
