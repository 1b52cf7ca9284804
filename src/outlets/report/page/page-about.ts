import type { Domain, ItemKey } from '../../../core/model/item.ts'
import type { Page } from '../../../core/model/page/page.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** Subject of a page, and its content beside a plan. */
export interface PageAbout {
  /** Id of the workspace. */
  workspace: string
  facts: Page['facts']
  /** Warnings that the plan does not contain. */
  warnings: string[]
  callsPerMinute: number
  /** Finds where a manifest asks for an item, as `FILE:LINE`; null if none does. */
  findPlace(domain: Domain, item: ItemKey): string | null
  /** Replaces the secrets in a text. */
  scrub(text: string): string
}

/** Builds the head of a page, and its warnings, whose texts come from anybody. */
export function buildHead(
  kind: Page['kind'],
  sentence: string,
  { workspace, facts, warnings, callsPerMinute, scrub }: PageAbout,
): Pick<Page, 'format' | 'kind' | 'title' | 'sentence' | 'facts' | 'warnings' | 'callsPerMinute'> {
  const clean = (text: string) => escapeInvisible(scrub(text))
  return {
    format: 'edgewise.page/1',
    kind,
    title: clean(`Edgewise ${kind}: ${workspace}`),
    sentence: clean(sentence),
    facts: facts.map(([label, value]) => [label, clean(value)]),
    warnings: [...new Set(warnings)].map(clean),
    callsPerMinute,
  }
}

/** Finds the place of a cell, without invisible characters. */
export function findCellPlace(
  { findPlace }: Pick<PageAbout, 'findPlace'>,
  domain: Domain,
  item: ItemKey,
): string | null {
  const place = findPlace(domain, item)
  return place === null ? null : escapeInvisible(place)
}
