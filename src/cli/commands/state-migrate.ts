import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import { addLockOptions, buildLockRequest, type LockOptions } from './options.ts'

interface MigrateOptions extends LockOptions {
  to: string
}

/** `edgewise state migrate`: copies the state of the workspace to another store. */
export function declareMigrate(state: Command, declare: Declare): void {
  const command = declare<MigrateOptions>(state, 'migrate', {
    description: 'copy the state to another store, and leave this one',
    examples: ["state migrate --to '${env:DATABASE_URL}'", 'state migrate --to git:edgewise-state'],
    run: async (context, _args, options) => {
      const { migrate } = await import('../../operations/migrate.ts')
      const { parseStore } = await import('../../operations/parse-store.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io } = context
      const { state: to, written } = parseStore(options.to, io.env)
      const request = { to, ...buildLockRequest(options) }
      const { hasOtherSalt: _noted, ...migrated } = await migrate(
        openWorkspace(context, 'none'),
        request,
        { outside: io, dialogue: createTerminalDialogue(context) },
      )
      const { files, location } = migrated
      io.out(
        context.options.json === true
          ? `${JSON.stringify({ format: 'edgewise.migrate/1', ...migrated })}\n`
          : `Copied and compared ${files} files of state: it is in ${location} now.\n` +
              `Write this into edgewise.yaml:\n\n${written}\n`,
      )
      return exitCodes.done
    },
  }).requiredOption(
    '--to <store>',
    "git:BRANCH, dir:PATH, or a database such as '${env:DATABASE_URL}'",
  )
  addLockOptions(command)
  command.addHelpText(
    'after',
    `
Copies history, rollouts and unfinished applies too. An interrupted migration
can be repeated. Other commands refuse the old state from then on.`,
  )
}
