import { openRecord, recordedAt } from '../index.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import { endHolding, holderOf, nameOf } from '../state/lock.ts'
import { historyText } from '../report/apply/history-text.ts'
import { short } from '../report/plan/value-lines.ts'
import { visible } from '../report/text/visible.ts'
import type { RecordedItem } from '../state/store.ts'
import type { CommandContext } from './io.ts'
import { openRecorded, openWorkspace } from './open.ts'
import { exits } from './exits.ts'

/** `edgewise state list`: the domains that are recorded. */
export async function stateList(context: CommandContext): Promise<number> {
  const { io, options, paint } = context
  const { store, recorded } = await openRecorded(context, openWorkspace(context, 'none'))
  const domains = [...recorded].map(([domain, items]) => {
    const entries = [...items.values()]
    const inDoubt = entries.filter((held) => held.status === 'in-doubt').length
    const confirmed = entries.filter((held) => held.status !== 'in-doubt').map((held) => held.at)
    return { domain, items: items.size, inDoubt, confirmedAt: confirmed.toSorted().at(-1) ?? null }
  })
  if (options.json === true) {
    io.out(`${JSON.stringify({ format: 'edgewise.state/1', domains })}\n`)
    return exits.done
  }
  if (domains.length === 0) io.out(`Nothing is recorded (${store.location}).\n`)
  const width = Math.max(0, ...domains.map((entry) => entry.domain.length))
  for (const { domain, items, inDoubt, confirmedAt } of domains) {
    const doubt = inDoubt === 0 ? '' : paint.yellow(`  ${inDoubt} in doubt`)
    io.out(
      `${domain.padEnd(width)}  ${String(items).padStart(3)} ${items === 1 ? 'item ' : 'items'}  ${confirmedAt ?? 'never confirmed'}${doubt}\n`,
    )
  }
  return exits.done
}

/** `edgewise state show`: what is recorded of a domain, or was at the end of an apply, and how that is known. */
export async function stateShow(context: CommandContext, [name]: unknown[], { at }: { at?: string }): Promise<number> {
  const { io, options, paint } = context
  const { store, recorded } = await openRecorded(context, openWorkspace(context, 'none'))
  const domain = String(name).toLowerCase()
  const then = at === undefined ? null : await recordedAt(store, recorded, domain, at)
  if (then !== null && then.notKnown.length > 0)
    context.note(`Not known at that time, since something was imported or observed later: ${then.notKnown.map(visible).join(', ')}.`)
  const items = then?.items ?? recorded.get(domain) ?? new Map<ItemKey, RecordedItem>()
  if (items.size === 0) {
    const when = then === null ? 'is recorded' : `is known to have been recorded at the end of apply ${then.apply.id}`
    throw new EdgewiseError('usage', `nothing ${when} of "${domain}"`, '"edgewise state list" lists what is recorded now.')
  }
  if (options.json === true) {
    io.out(`${JSON.stringify(domainJson(domain, items))}\n`)
    return exits.done
  }
  io.out(
    `${paint.bold(domain)}${then === null ? '' : paint.dim(`  at the end of apply ${visible(then.apply.id)}, ${then.apply.endedAt ?? 'which did not end'}`)}\n`,
  )
  for (const [status, entries] of groupBy(items, ([, held]) => held.status)) {
    io.out(`\n${status}\n`)
    for (const [item, held] of entries) {
      io.out(`  ${item}  ${paint.dim(`${held.origin === 'import' ? 'imported' : 'written'} ${held.at}, ${held.apply}`)}\n`)
      for (const value of held.candidates) io.out(`      ${status === 'in-doubt' ? 'maybe ' : ''}${short(value)}\n`)
      if (held.unknown === true) io.out('      or something that was never recorded\n')
      if (held.returned !== undefined) io.out(`      the service answered ${short(held.returned)}\n`)
    }
  }
  return exits.done
}

function domainJson(domain: Domain, items: ReadonlyMap<ItemKey, RecordedItem>): Json {
  const shown = [...items].map(([item, { candidates, status, at, apply, origin, unknown, returned }]): [ItemKey, Json] => [
    item,
    { candidates, status, at, apply, origin, ...(unknown === true ? { unknown } : {}), ...(returned === undefined ? {} : { returned }) },
  ])
  return { format: 'edgewise.state-domain/1', domain, items: Object.fromEntries(shown) }
}

/** `edgewise state history`: the applies, the latest first, and what came of them. */
export async function stateHistory(context: CommandContext): Promise<number> {
  const { io, options, paint } = context
  const { store } = await openRecorded(context, openWorkspace(context, 'none'))
  const applies = (await store.history()).toReversed()
  io.out(options.json === true ? `${JSON.stringify({ format: 'edgewise.history/1', applies })}\n` : historyText(applies, paint))
  return exits.done
}

/** `edgewise state unlock`: shows who holds the lock and, after a question, ends it. */
export async function stateUnlock(context: CommandContext): Promise<number> {
  const { io, options } = context
  const { lock } = await openRecord(openWorkspace(context, 'none'), io)
  const holder = await holderOf(lock)
  if (holder === null) {
    io.out('Nobody holds the lock.\n')
    return exits.done
  }
  io.out(`Held by ${visible(nameOf(holder))}.\n`)
  if (options.yes !== true) {
    if (io.ask === null) throw new EdgewiseError('declined', 'nobody can be asked whether the lock may be ended', 'Give --yes to end it.')
    const when = lock.near ? 'before its next write' : 'at its next sign of life, within 20 seconds'
    if (!(await io.ask(`End it? An apply that still runs then stops ${when}.`)))
      throw new EdgewiseError('declined', 'the lock was left as it is')
  }
  const ended = await endHolding(lock, holder.token)
  io.out(ended ? 'The lock is free.\n' : 'That holding has ended by itself meanwhile.\n')
  return exits.done
}
