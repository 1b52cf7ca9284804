import type { Command } from 'commander'
import type { ItemKey } from '../../model/item.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import { addLockOptions, buildLockRequest, collect, type LockOptions } from './options.ts'

interface ForgetOptions extends LockOptions {
  item: ItemKey[]
}

/**
 * `edgewise state forget`: removes domains or some of their items from state. Sends nothing to the
 * service.
 */
export function declareForget(state: Command, declare: Declare): void {
  const command = declare<ForgetOptions>(state, 'forget <domains...>', {
    description: 'remove domains, or items of them, from state',
    args: ['the domains'],
    examples: ['state forget old.example.com', 'state forget www.example.com --item https --yes'],
    run: async (context, [domains], options) => {
      const { forget } = await import('../../operations/forget.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io } = context
      const request = {
        domains: domains as string[],
        items: options.item,
        ...buildLockRequest(options),
      }
      const forgotten = await forget(openWorkspace(context, 'none'), request, {
        outside: io,
        dialogue: createTerminalDialogue(context),
      })
      const { what, domains: forgottenDomains, items: forgottenItems } = forgotten
      const output = {
        format: 'edgewise.forget/1',
        domains: forgottenDomains,
        items: forgottenItems,
      }
      io.out(context.options.json === true ? `${JSON.stringify(output)}\n` : `Forgot ${what}.\n`)
      return exitCodes.done
    },
  }).option('--item <item>', 'only this item; repeatable', collect, [])
  addLockOptions(command)
}
