import { isConditional, type Change } from '../../../core/model/change.ts'
import { groupDomains } from '../../../core/model/lists.ts'
import type { Domain } from '../../../core/model/item.ts'
import type { PageNotice } from '../../../core/model/page/page.ts'
import { selectDefinite, type Plan } from '../../../core/model/plan.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { describeChange } from '../plan/blocks.ts'
import { formatConditional } from '../plan/summary.ts'

/** A text about one domain. */
interface Remark {
  kind: PageNotice['kind']
  text: string
  domain: Domain
}

/**
 * Lists what a plan does not send or can't undo: released, cleared and conditional changes, those
 * on hold, and those that can't be rolled back.
 */
export function listNotices(plan: Plan, redact: (text: string) => string): PageNotice[] {
  const { changes, onHold = [], irreversible = [] } = selectDefinite(plan)
  const lost = irreversible.map(({ domain, item, reason }): Remark => ({
    kind: 'no-way-back',
    text: `${item} can't be rolled back: ${reason}`,
    domain,
  }))
  const held = onHold.flatMap(({ text, domains }) =>
    domains.map((domain): Remark => ({ kind: 'on-hold', text, domain })),
  )
  const text = formatConditional(plan) ?? ''
  const conditional = plan.changes.filter(isConditional).map(({ domain }): Remark => ({
    kind: 'conditional',
    text,
    domain,
  }))
  return groupRemarks([...held, ...changes.flatMap(describeApart), ...conditional, ...lost], redact)
}

/** Groups remarks with one text, which is without secrets and invisible characters then. */
export function groupRemarks(remarks: Remark[], redact: (text: string) => string): PageNotice[] {
  const groups = groupDomains(remarks, ({ kind, text }) => `${kind} ${text}`)
  return groups.map(({ first: { kind, text }, domains }) => ({
    kind,
    text: escapeInvisible(redact(text)),
    domains: domains.map(escapeInvisible),
  }))
}

function describeApart(change: Change): Remark[] {
  const kind = findKind(change)
  if (kind === null) return []
  const text = `${change.item}: ${describeChange(change).join('; ')}`
  return [{ kind, text, domain: change.domain }]
}

function findKind({ action, reason }: Change): PageNotice['kind'] | null {
  if (reason === 'cleared') return 'cleared'
  if (action === 'release') return 'released'
  return null
}
