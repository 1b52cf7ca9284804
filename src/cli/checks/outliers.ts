import { formatJson } from '../../core/model/json.ts'
import { findOutliers } from '../../core/checks/outliers.ts'
import { buildOutliersJson, formatOutliers } from '../../outlets/report/checks/outliers.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import { openValidWorkspace } from '../open.ts'

/** `edgewise check`: lists what differs from nearly all similar domains; that is no failure. */
export async function checkOutliers(context: CommandContext): Promise<number> {
  const { io, options, paint } = context
  const workspace = openValidWorkspace(context, 'none')
  const { desired, findItemPlace, findProfiles } = workspace
  const shown = {
    outliers: findOutliers(desired, findProfiles),
    findPlace: ({ item, pointer }: { item: string; pointer: string | null }, domain: string) =>
      findItemPlace(domain, item, pointer ?? ''),
  }
  if (options.json === true) io.out(formatJson(buildOutliersJson(shown), 2))
  else io.out(formatOutliers(shown, { paint, columns: io.columns }))
  return exitCodes.done
}
