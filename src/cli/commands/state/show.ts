import type { Command } from 'commander'
import { escapeInvisible } from '../../../outlets/report/text/escape-invisible.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { formatTime } from '../../../core/model/text/words.ts'
import { formatJson, pickDefined, type Json } from '../../../core/model/json.ts'
import type { DomainState } from '../../../operations/state.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { CommandContext } from '../../io.ts'
import type { Declare } from '../declare.ts'

/**
 * `edgewise state show`: shows the state of a domain, now or at the end of an apply, and its
 * origin.
 */
export function declareShow(state: Command, declare: Declare): void {
  declare<{ at?: string }>(state, 'show <domain>', {
    description: 'show the state of a domain',
    args: ['the domain'],
    examples: [
      'state show www.example.com',
      'state show www.example.com --at 20260102T030405Z-1a2b',
    ],
    run: async (context, [name], { at }) => {
      const { showState } = await import('../../../operations/state.ts')
      const { openWorkspace } = await import('../../open.ts')
      const shown = await showState(openWorkspace(context, 'none'), String(name), at, context.io)
      if (context.options.json === true) context.io.out(formatJson(buildStateJson(shown)))
      else await print(context, shown)
      return exitCodes.done
    },
  })
    .option('--at <apply>', 'state at the end of this apply')
    .addHelpText(
      'after',
      `
--at is computed backwards from the current state through the later applies; the
id of a rollout stands for the end of its last wave. Imports and "state forget"
are not applies: items imported since are listed as not known, items forgotten
since are missing.`,
    )
}

function buildStateJson({ domain, items }: DomainState): Json {
  const shown = [...items].map(
    ([item, { candidates, status, differs, at, apply, origin, ...more }]): [string, Json] => [
      item,
      pickDefined({
        candidates,
        status: differs === true ? 'differs' : status,
        at,
        apply,
        origin,
        unknown: more.unknown === true ? true : undefined,
        returned: more.returned,
        unknownFields: more.unknownFields,
      }),
    ],
  )
  return { format: 'edgewise.state-domain/1', domain, items: Object.fromEntries(shown) }
}

async function print(
  { io, paint, note }: CommandContext,
  { domain, items, asOf }: DomainState,
): Promise<void> {
  const { dropFields, nameFields } = await import('../../../core/catalog/hidden-fields.ts')
  const { findShape, formatValue } = await import('../../../outlets/report/plan/value-text.ts')
  if (asOf !== null && asOf.notKnown.length > 0)
    note(
      'Not known at that time, because it was imported or observed later: ' +
        `${asOf.notKnown.map(escapeInvisible).join(', ')}.`,
    )
  const when =
    asOf === null
      ? ''
      : paint.dim(
          `  at the end of apply ${escapeInvisible(asOf.apply.id)}, ` +
            (asOf.apply.endedAt === null
              ? 'whose end is not recorded'
              : formatTime(asOf.apply.endedAt)),
        )
  io.out(`${paint.bold(domain)}${when}\n`)
  for (const [status, entries] of groupBy(items, ([, recorded]) =>
    recorded.differs === true ? 'differs' : recorded.status,
  )) {
    io.out(`\n${status}\n`)
    for (const [item, recorded] of entries) {
      const { origin, at, apply, candidates, unknown, returned, unknownFields } = recorded
      const { schema } = findShape(item)
      const source = `${origin === 'import' ? 'imported' : 'written'} ${formatTime(at)}, ${apply}`
      io.out(`  ${escapeInvisible(item)}  ${paint.dim(escapeInvisible(source))}\n`)
      for (const each of candidates) {
        const value = formatValue(dropFields(each, unknownFields), schema)
        io.out(`      ${status === 'in-doubt' ? 'maybe ' : ''}${value}\n`)
      }
      if (unknownFields !== undefined)
        io.out(`      not known: ${nameFields(unknownFields).join(', ')}\n`)
      if (unknown === true) io.out('      or a value that was never recorded\n')
      if (returned !== undefined)
        io.out(`      the service answered ${formatValue(returned, schema)}\n`)
    }
  }
}
