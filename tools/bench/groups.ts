import { measureApply, measureApplyMemory } from './measure-apply.ts'
import { measureEditor } from './measure-editor.ts'
import {
  measureFleet,
  measurePlan,
  measurePlanMemory,
  measureValidate,
} from './measure-manifests.ts'
import { measurePackage } from './measure-package.ts'
import { measurePolicies } from './measure-policies.ts'
import { measureBombs, measureRuleLists } from './measure-rule-lists.ts'
import { measureScaling } from './measure-scaling.ts'
import { measureStart } from './measure-start.ts'
import { measureSave } from './measure-state.ts'
import { measureTests } from './measure-tests.ts'
import { measureEffects, measureTrace } from './measure-trace.ts'
import type { Row } from './row.ts'
import type { Workbench } from './workbench.ts'

export interface Settings {
  bench: Workbench
  /** Measure 100,000 domains too. */
  scale: boolean
}

/** Groups of figures, in the order of the table. */
export const groups: Record<string, (settings: Settings) => Row[] | Promise<Row[]>> = {
  start: ({ bench }) => measureStart(bench, 5),
  validate: ({ bench }) => measureValidate(bench, 10_000, 5, { cpu: 1.3, wall: 0.8 }),
  'validate-2000': ({ bench }) => measureValidate(bench, 2000, 5, { cpu: null, wall: null }),
  plan: ({ bench }) => measurePlan(bench, 10_000, 5),
  'plan-memory': ({ bench }) => measurePlanMemory(bench, 10_000),
  save: () => measureSave(10_000, 5),
  apply: ({ bench }) => [
    ...measureApply(bench, 'dir', 1000, 3),
    ...measureApply(bench, 'git', 1000, 3),
  ],
  'apply-memory': async ({ bench }) => [
    ...(await measureApplyMemory(bench, 'dir', 10_000)),
    ...(await measureApplyMemory(bench, 'git', 10_000)),
  ],
  scaling: ({ bench, scale }) =>
    measureScaling(bench, [100, 1000, 10_000, ...(scale ? [100_000] : [])]),
  trace: measureTrace,
  effects: measureEffects,
  'rule-lists': ({ bench }) => measureRuleLists(bench, 10_000),
  'rule-list-bombs': ({ bench }) => measureBombs(bench),
  test: ({ bench }) => measureTests(bench),
  editor: ({ bench }) => measureEditor(bench, 3000, 10),
  policies: ({ bench }) => measurePolicies(bench, 10_000, 3),
  package: measurePackage,
}

/** Measures CPU ratios of a small fleet, which other processes hardly change. */
export function measureSmall(bench: Workbench): Row[] {
  const rows = [...measureStart(bench, 5), ...measureFleet(bench, 1000, 5)]
  return rows.filter(({ ratio }) => ratio !== null).map((row) => ({ ...row, goal: null }))
}
