import type { Command } from 'commander'
import { examplesText, type Declare } from './declare.ts'
import { collect, locking } from './options.ts'

/** The record: `import`, and what is below `state`. */
export function recordCommands(program: Command, declare: Declare): void {
  const importing = declare(program, 'import <files...>', {
    description: 'adopt what a service already holds, without writing to it',
    examples: ['import current.json', 'import answer.json --domain www.example.com --write-manifests'],
    load: async () => (await import('../import.ts')).importFiles,
  })
    .option('--domain <domain>', 'the domain of an answer that names none')
    .option('--write-manifests', 'first write manifests for domains that have none')
    .option('--replace', 'replace what is recorded otherwise')
  locking(importing)

  const state = program
    .command('state')
    .description('look into the record, and drop from it')
    .addHelpText('after', examplesText(['state list', 'state show www.example.com']))

  declare(state, 'list', {
    description: 'domains that are recorded',
    examples: ['state list', 'state list --json'],
    load: async () => (await import('../state.ts')).stateList,
  })

  declare(state, 'show <domain>', {
    description: 'what is recorded of a domain',
    examples: ['state show www.example.com', 'state show www.example.com --at 20260102T030405Z-1a2b'],
    load: async () => (await import('../state.ts')).stateShow,
  })
    .option('--at <apply>', 'what was recorded when this apply had ended')
    .addHelpText(
      'after',
      `
--at goes back from now through what each later apply found recorded; the id of
a rollout stands for the end of its last wave. Imports and "state forget" are no
applies: what was imported since is named as not known, what was forgotten since
is missing.`,
    )

  declare(state, 'history', {
    description: 'the applies, and what came of them',
    examples: ['state history', 'state history --json'],
    load: async () => (await import('../state.ts')).stateHistory,
  })

  const forget = declare(state, 'forget <domains...>', {
    description: 'take domains, or items of them, out of the record',
    examples: ['state forget old.example.com', 'state forget www.example.com --item https --yes'],
    load: async () => (await import('../forget.ts')).stateForget,
  }).option('--item <name>', 'only this item; may be given several times', collect, [])
  locking(forget)

  declare(state, 'unlock', {
    description: 'end the lock of an apply that is gone',
    examples: ['state unlock', 'state unlock --yes'],
    load: async () => (await import('../state.ts')).stateUnlock,
  })
}
