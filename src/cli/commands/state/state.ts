import { storeRows } from '../../../core/model/stores.ts'
import { formatTime, listAll, pluralize } from '../../../core/model/text/words.ts'
import type { ItemKey } from '../../../core/model/item.ts'
import type { Declare } from '../declare.ts'
import {
  addLockOptions,
  collect,
  parseDays,
  parseWorkspaceId,
  type LockOptions,
} from '../options.ts'
import { runOnState } from '../../run-on-state.ts'
import { declareHistory, declareVerify } from './history.ts'
import { declareList } from './list.ts'

/** `edgewise state`: parent of the commands that show state or change it. */
export function declareState(declare: Declare): void {
  const all = [declareList, declareHistory, declareVerify, declareForget]
  const declareIn = declare.group('state', 'show state, or change it', ['list', 'history'])
  for (const add of [...all, declareMove, declareMigrate, declarePrune, declareUnlock])
    add(declareIn)
}

/** `edgewise state forget`: removes domains or items from state; sends nothing to the service. */
function declareForget(declare: Declare): void {
  const command = declare<LockOptions & { item: ItemKey[] }>('forget <domains...>', {
    description: 'remove domains, or items of them, from state',
    args: ['the domains'],
    examples: ['state forget old.example.com', 'state forget www.example.com --item https --yes'],
    run: async (context, [domains], { item: items, lockTimeout }) => {
      const { forget } = await import('../../../operations/forget.ts')
      const request = { domains: domains as string[], items, lockTimeout }
      return runOnState(context, (workspace, ports) => forget(workspace, request, ports), {
        json: ({ what: _what, ...counts }) => ({ format: 'edgewise.forget/1', ...counts }),
        text: ({ what }) => `Forgot ${what}.`,
      })
    },
  }).option('--item <item>', 'only this item; repeatable', collect, [])
  addLockOptions(command)
}

/** `edgewise state move`: hands domains over to another workspace of the same store. */
function declareMove(declare: Declare): void {
  const command = declare<LockOptions & { to: string }>('move <domains...>', {
    description: 'hand domains over to another workspace of the store',
    args: ['the domains'],
    examples: ['state move www.example.com --to production'],
    run: async (context, [domains], { to, lockTimeout }) => {
      const { move } = await import('../../../operations/forget.ts')
      const request = { domains: domains as string[], to, lockTimeout }
      return runOnState(context, (workspace, ports) => move(workspace, request, ports), {
        json: ({ what: _what, ...counts }) => ({ format: 'edgewise.move/1', ...counts, to }),
        text: ({ what }) => `Moved ${what} to the workspace "${to}".`,
      })
    },
  }).requiredOption('--to <id>', 'id of the other workspace', parseWorkspaceId)
  addLockOptions(command).addHelpText(
    'after',
    `
A domain at one service belongs to one workspace of a store. Run this command in
the workspace that has it; then move its manifest. The history stays here.`,
  )
}

/** `edgewise state migrate`: copies the state of the workspace to another store. */
function declareMigrate(declare: Declare): void {
  const command = declare<LockOptions & { to: string }>('migrate', {
    description: 'copy the state to another store, and leave this one',
    examples: ["state migrate --to '${env:DATABASE_URL}'", 'state migrate --to git:edgewise-state'],
    run: async (context, _args, { to: place, lockTimeout }) => {
      const { migrate } = await import('../../../operations/migrate.ts')
      const { parseStore } = await import('../../../operations/migrate.ts')
      const { state: to, written } = parseStore(place, context.io.env)
      const request = { to, lockTimeout }
      return runOnState(context, (workspace, ports) => migrate(workspace, request, ports), {
        json: ({ hasOtherSalt: _noted, ...migrated }) => ({
          format: 'edgewise.migrate/1',
          ...migrated,
        }),
        text: ({ files, location }) =>
          `Copied and compared ${files} files of state: it is in ${location} now.\n` +
          `Write this into edgewise.yaml:\n\n${written}`,
      })
    },
  }).requiredOption(
    '--to <store>',
    listAll(
      storeRows.map(([, { place }]) => place),
      'or',
    ),
  )
  addLockOptions(command).addHelpText(
    'after',
    `
Copies history, rollouts and unfinished applies too. An interrupted migration
can be repeated. Other commands refuse the old state from then on.`,
  )
}

/** `edgewise state prune`: removes the state before old applies. */
function declarePrune(declare: Declare): void {
  const command = declare<LockOptions & { keep?: number }>('prune', {
    description: 'remove the data for rolling back old applies',
    examples: ['state prune --keep 90d', 'state prune --keep 30d --yes'],
    run: async (context, _args, { keep = parseDays('90d'), lockTimeout }) => {
      const { prune } = await import('../../../operations/prune.ts')
      const request = { keepMs: keep, lockTimeout }
      return runOnState(context, (workspace, ports) => prune(workspace, request, ports), {
        json: ({ applies, before, kept }) => ({
          format: 'edgewise.prune/1',
          before,
          applies: applies.map(({ id }) => id),
          kept,
        }),
        text: ({ applies, before, kept }) =>
          `Pruned ${pluralize(applies.length, 'apply', 'applies')} that ended before ` +
          `${formatTime(before)}; ${kept} can be rolled back.`,
      })
    },
  }).option('--keep <days>', 'maximum age of the applies to keep (default: 90d)', parseDays)
  addLockOptions(command).addHelpText(
    'after',
    `
Pruned applies stay in "state history", up to 1000 of them, but can't be rolled
back. Unfinished applies, those of open rollouts, the last one that can be
rolled back, and all later ones are kept. Every apply prunes up to 50 applies
that ended more than 90 days ago.`,
  )
}

const unlocked = {
  'not-locked': 'There is no lock.',
  unlocked: 'The lock was removed.',
  released: 'The lock had already been released.',
}

/** `edgewise state unlock`: shows the lock holder and, after consent, removes the lock. */
function declareUnlock(declare: Declare): void {
  declare<{ force?: boolean; reason?: string }>('unlock [domain]', {
    description: 'remove a stale lock',
    args: ['a domain of the lock, if there are several locks'],
    examples: ['state unlock', 'state unlock --yes', 'state unlock www.example.com'],
    run: async (context, [domain], { force, reason = '' }) => {
      const { unlock } = await import('../../../operations/unlock.ts')
      const request = { force, reason, ...(domain === undefined ? {} : { domain: String(domain) }) }
      return runOnState(context, (workspace, ports) => unlock(workspace, request, ports), {
        // The lock holder is shown as text, too.
        text: ({ ended }) => unlocked[ended],
        notify: (notifier, done) => notifier.notifyOfUnlock(done, reason),
      })
    },
  })
    .option('--force', 'remove the lock although its process runs on this machine')
    .option('--reason <text>', 'why, for the history and notifications (guards.reason)')
}
