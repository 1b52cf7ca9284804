import type { Command } from 'commander'
import type { ItemKey } from '../../model/item.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import { collect, addLockOptions, type LockOptions } from './options.ts'

interface ForgetOptions extends LockOptions {
  item: ItemKey[]
}

/**
 * `edgewise state forget`: takes domains, or some of their items, out of state. The service is not
 * told.
 */
export function declareForget(state: Command, declare: Declare): void {
  const command = declare<ForgetOptions>(state, 'forget <domains...>', {
    description: 'take domains, or items of them, out of the record',
    examples: ['state forget old.example.com', 'state forget www.example.com --item https --yes'],
    run: async (context, [domains], { item: items, lockTimeout }) => {
      const { forget } = await import('../../operations/forget.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io, options } = context
      const request = { domains: domains as string[], items, lockTimeout }
      const forgotten = await forget(openWorkspace(context, 'none'), request, {
        outside: io,
        dialogue: createTerminalDialogue(context),
      })
      if (options.json === true)
        io.out(
          `${JSON.stringify({ format: 'edgewise.forget/1', domains: forgotten.domains, items: forgotten.items })}\n`,
        )
      else io.out(`Forgot ${forgotten.what}.\n`)
      return exitCodes.done
    },
  }).option('--item <name>', 'only this item; may be given several times', collect, [])
  addLockOptions(command)
}
