import type { Domain, ItemKey } from '../../../core/model/item.ts'
import type { Page } from '../../../core/model/page/page.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { fitText } from './fit-page.ts'

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
  redact(text: string): string
}

/**
 * Begins a page: its head, without secrets and cut to a readable length, and no changes. The
 * builder of a page of changes replaces the empty lists.
 *
 * @param name of the command or the subject, such as `plan`
 */
export function beginPage(
  name: string,
  sentence: string,
  { workspace, facts, warnings, callsPerMinute, redact }: PageAbout,
): Page {
  const clean = (text: string) => escapeInvisible(redact(text))
  return {
    format: 'edgewise.page/1',
    title: fitText(clean(`Edgewise ${name}: ${workspace}`)),
    sentence: fitText(clean(sentence)),
    facts: facts.map(([label, value]) => [fitText(label, 200), fitText(clean(value), 400)]),
    warnings: [...new Set(warnings)].map((warning) => fitText(clean(warning))),
    callsPerMinute,
    domains: [],
    items: [],
    parts: [],
    changes: [],
    writes: [],
    waves: [],
    notices: [],
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
