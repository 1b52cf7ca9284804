import { Option } from 'commander'
import type { ServeFlags } from '../serve.ts'
import type { Declare } from './declare.ts'
import { createIntegerParser } from './options.ts'

/** `edgewise serve`: follows a branch, and applies it, until it is stopped. */
export function declareServe(declare: Declare): void {
  declare<ServeFlags>('serve [repository]', {
    description: 'follow a git branch, and apply it',
    args: ['address or folder of the repository; by default, the origin of the current one'],
    examples: [
      'serve',
      'serve https://git.example.com/cdn.git --branch main',
      'serve --poll 15 --log-format text',
    ],
    run: async (context, [repository], options) =>
      (await import('../serve.ts')).runServe(context, repository, options),
  })
    .option('--branch <name>', "branch to follow; by default, the repository's default branch")
    .option('--folder <path>', 'folder of the workspace in the repository')
    .option('--data <folder>', 'folder for the clone, of this process alone; by default, a new one')
    .option('--poll <seconds>', 'wait between two fetches', createIntegerParser(5, 86_400), 60)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--port <number>',
      'port to listen on; 0 picks a free one',
      createIntegerParser(0, 65_535),
      8080,
    )
    .option(
      '--health-port <number>',
      'port of /healthz, /readyz and /metrics; by default, the one after --port',
      createIntegerParser(0, 65_535),
    )
    .addOption(
      new Option('--log-format <format>', 'format of the log on stderr')
        .choices(['json', 'text'])
        .default('json'),
    )
    .addHelpText(
      'after',
      `
The state of the workspace has to be in PostgreSQL. EDGEWISE_SERVE_TOKEN is the
token of the pages at / and of /api, EDGEWISE_WEBHOOK_SECRET the key of
POST /webhook. Without them, these are closed. /healthz, /readyz and /metrics
are open, at both ports; that of --health-port answers while the process is
busy.`,
    )
}
