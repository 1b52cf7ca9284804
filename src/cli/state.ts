import { openRecord } from '../index.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import type { Json } from '../model/json.ts'
import { endHolding, holderOf, nameOf } from '../state/lock.ts'
import { historyText } from '../report/history-text.ts'
import { short } from '../report/value-lines.ts'
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

/** `edgewise state show`: what is recorded of a domain, and how that is known. */
export async function stateShow(context: CommandContext, [name]: unknown[]): Promise<number> {
  const { io, options, paint } = context
  const { recorded } = await openRecorded(context, openWorkspace(context, 'none'))
  const domain = String(name).toLowerCase()
  const items = recorded.get(domain)
  if (items === undefined) throw new EdgewiseError('usage', `nothing is recorded of "${domain}"`, '"edgewise state list" lists what is.')
  if (options.json === true) {
    const shown = [...items].map(([item, { candidates, status, at, apply, origin, unknown, returned }]) => [
      item,
      { candidates, status, at, apply, origin, ...(unknown === true ? { unknown } : {}), ...(returned === undefined ? {} : { returned }) },
    ])
    io.out(`${JSON.stringify({ format: 'edgewise.state-domain/1', domain, items: Object.fromEntries(shown) as Json })}\n`)
    return exits.done
  }
  io.out(`${paint.bold(domain)}\n`)
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
  io.out(`Held by ${nameOf(holder)}.\n`)
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
