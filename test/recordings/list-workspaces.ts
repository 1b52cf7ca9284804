import { buildConformance, buildPairs, buildRuleLists, buildTraces } from './item-workspaces.ts'
import { buildExamples } from './examples.ts'
import { buildMutated, buildFaulty, buildFleets, buildSettings } from './generated-workspaces.ts'
import type { RecordedWorkspace } from './workspace.ts'

/** The workspaces, by the file that has their recordings. */
export const groups: Record<string, () => RecordedWorkspace[]> = {
  examples: buildExamples,
  items: () => [...buildConformance(), ...buildTraces(), ...buildRuleLists()],
  pairs: buildPairs,
  fleets: () => [...buildFleets(), ...buildSettings(), ...buildFaulty(), ...buildMutated()],
}
