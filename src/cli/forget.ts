import type { Recorded } from '../index.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { LockOptions } from './commands/options.ts'
import { exits } from './exits.ts'
import type { CommandContext } from './io.ts'
import { withLock } from './lock.ts'
import { openWorkspace } from './open.ts'
import { errSentences } from './terminal/sentences.ts'

interface ForgetOptions extends LockOptions {
  item: ItemKey[]
}

/** `edgewise state forget`: takes domains, or some of their items, out of the record. The service is not told. */
export async function stateForget(context: CommandContext, [names]: unknown[], options: ForgetOptions): Promise<number> {
  const workspace = openWorkspace(context, 'none')
  const domains = [...new Set((names as string[]).map((name) => name.toLowerCase()))]
  return withLock(context, workspace, 'state forget', options.lockTimeout, async ({ store }) => {
    const forgotten = withoutItems(await store.load(), domains, options.item)
    await confirmForget(context, forgotten)
    await store.save(forgotten.left, `Forget ${forgotten.what}`)
    if (context.options.json === true) {
      context.io.out(`${JSON.stringify({ format: 'edgewise.forget/1', domains: forgotten.left.size, items: forgotten.items })}\n`)
    } else context.io.out(`Forgot ${forgotten.what}.\n`)
    return exits.done
  })
}

/** What is to be forgotten, and what stays of the domains. */
interface Forgotten {
  left: Recorded
  items: number
  what: string
}

function withoutItems(recorded: Recorded, domains: Domain[], items: ItemKey[]): Forgotten {
  const left: Recorded = new Map()
  let count = 0
  for (const domain of domains) {
    const held = recorded.get(domain)
    if (held === undefined) throw new EdgewiseError('usage', `nothing is recorded of "${domain}"`, '"edgewise state list" lists what is.')
    const missing = items.find((item) => !held.has(item))
    if (missing !== undefined) {
      throw new EdgewiseError('usage', `no "${missing}" is recorded of ${domain}`, `"edgewise state show ${domain}" lists what is.`)
    }
    const rest = new Map(items.length === 0 ? [] : [...held].filter(([item]) => !items.includes(item)))
    count += held.size - rest.size
    left.set(domain, rest)
  }
  const some = domains.length <= 3 ? domains.join(', ') : `${domains.slice(0, 3).join(', ')} and ${domains.length - 3} more`
  return { left, items: count, what: `${items.length === 0 ? 'all' : items.join(', ')} of ${some}` }
}

async function confirmForget({ io, options }: CommandContext, { what, items }: Forgotten): Promise<void> {
  if (options.yes === true) return
  if (io.ask === null || options.json === true) {
    throw new EdgewiseError('declined', 'nobody can be asked whether that may be forgotten', 'Give --yes to forget it.')
  }
  const counted = items === 1 ? '1 item' : `${items} items`
  const question = `Forget ${what} (${counted})? The service keeps what it has; what a manifest mentions is written again, whole.`
  if (!(await io.ask(errSentences(question, io)))) throw new EdgewiseError('declined', 'nothing was forgotten')
}
