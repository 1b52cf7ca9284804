import type { WriteProblem } from '../../src/core/plan/group-writes.ts'
import { families } from './fleet-mixes.ts'
import { append, need, replace } from './problems.ts'

/** Builds the needs of a fleet; with `lists` half of the domains add entries to a list. */
export function buildFleet(family: string, domains: number, lists = false): WriteProblem {
  const mix = families[family]?.(domains, 3) ?? []
  const entries = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
  const needs = mix.flatMap((own, i) => [
    ...own.map(([item, value]) => need(i, item, replace(value))),
    ...(lists && i % 2 === 0
      ? [need(i, 'ip_black_list', replace(i), append(...entries.slice(i % 3)))]
      : []),
  ])
  return {
    needs,
    grouping: { groups: 'all', together: [] },
    domainsPerWrite: 10,
    effort: 'quick',
    solver: null,
  }
}
