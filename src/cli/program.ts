import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { efforts } from '../model/plan.ts'
import { grains } from '../model/statistics.ts'
import { exits } from './exits.ts'
import type { CommandContext, GlobalOptions, Io } from './io.ts'
import { paintFor } from './paint.ts'
import { tellError } from './tell-error.ts'
import { version } from './version.ts'

type Action = (context: CommandContext, args: unknown[], options: never) => Promise<number>

/**
 * Runs one command line.
 *
 * @param argv the words after the program's name
 * @returns the exit code; failures that have a sentence are told here
 */
export async function run(argv: string[], io: Io): Promise<number> {
  let code: number = exits.done
  const program = buildProgram(io, (exit) => (code = exit))
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    const json = argv.includes('--json')
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0 && json)
        tellError(new EdgewiseError('usage', error.message.replace(/^error: /, ''), 'See "edgewise --help".'), io, json, plain(argv, io))
      return error.exitCode === 0 ? exits.done : exits.failed
    }
    if (error instanceof EdgewiseError) {
      tellError(error, io, json, plain(argv, io))
      return exits.failed
    }
    throw error
  }
}

function plain(argv: string[], io: Io) {
  return paintFor(io.errIsTerminal, !argv.includes('--no-color'), io.env)
}

function buildProgram(io: Io, finish: (code: number) => void): Command {
  const program = new Command('edgewise')
    .description('Keeps the configuration of CDN domains as a Git repository says it should be.')
    .addHelpText('after', examplesText(['init cdn', 'plan', 'apply', 'explain https']))
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help of a command')
    .showHelpAfterError('(--help tells more)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
    })

  const command = (
    nameAndArguments: string,
    description: string,
    load: () => Promise<Action>,
    examples: string[],
    parent: Command = program,
  ): Command => {
    const added = parent
      .command(nameAndArguments)
      .description(description)
      .addHelpText('after', examplesText(examples))
      .action(async (...given: unknown[]) => {
        const self = given.at(-1) as Command
        const options = self.optsWithGlobals<GlobalOptions>()
        const action = await load()
        finish(await action(contextOf(io, options), given.slice(0, -2), options as never))
      })
    return globals(added)
  }
  globals(program)

  command('init [dir]', 'make a workspace that works at once', async () => (await import('./init.ts')).init, ['init', 'init cdn'])

  command('validate [paths...]', 'tell all problems of all manifests', async () => (await import('./validate.ts')).validate, [
    'validate',
    'validate domains/shop.yaml',
    'validate --format github',
  ]).addOption(new Option('--format <format>', 'how problems are told').choices(['text', 'json', 'github', 'sarif']).default('text'))

  selection(
    command('plan', 'tell what would change, and in how many writes', async () => (await import('./plan.ts')).plan, [
      'plan',
      "plan --target '*.shop.example.com' --item https",
      'plan --out plan.json --detailed-exitcode',
    ]),
  )
    .option('--out <file>', 'save the plan for "edgewise apply FILE"')
    .option('--markdown <file>', 'write the plan as Markdown, for a comment')
    .addOption(new Option('--effort <effort>', 'how long to look for fewer writes').choices(efforts).default('normal'))
    .option('--explain-writes', 'say why each write is as it is, and what the obvious groupings cost')
    .option('--detailed-exitcode', 'exit with 2 when there are changes')

  guarded(
    selection(
      command(
        'apply [planfile]',
        'carry the changes out, or exactly those of a saved plan',
        async () => (await import('./apply.ts')).apply,
        ['apply', 'apply --yes', 'apply plan.json', 'apply --yes --allow https --force'],
      ),
    ),
  )
    .option('--no-waves', 'all at once and without a health check; finishes an open rollout of the same change')
    .option('--retry-held', 'apply what a stopped rollout holds as well')
    .option('--stop-on-refusal', 'leave a refused write whole instead of finding the guilty part')
    .option('--lock-timeout <seconds>', 'wait so long for another apply to end', wholeNumber(0, 86_400), 0)

  guarded(
    selection(
      command('rollback [apply]', 'go back to what was recorded before an apply', async () => (await import('./rollback.ts')).rollback, [
        'rollback',
        'rollback 20260102T030405Z-1a2b',
        "rollback --target '*.shop.example.com' --yes",
      ]),
    ),
  )
    .addHelpText(
      'after',
      `
Without APPLY it is the last one that changed something. The id of a rollout
stands for all of its waves. Only what that apply changed is touched; what can't
be taken back is named. The manifests stay as they are: revert them as well.`,
    )
    .option('--lock-timeout <seconds>', 'wait so long for another apply to end', wholeNumber(0, 86_400), 0)

  guarded(
    command('drift', 'where manifests, record and service part', async () => (await import('./drift.ts')).drift, [
      'drift',
      'drift --observed held.json --json',
      "drift --observed './query-cdn --all' --repair",
    ])
      .option('--markdown <file>', 'write the drift as Markdown, for an issue')
      .option('--observed <file|command>', 'what the service holds: a JSON file, or a program that prints it')
      .option('--repair', 'plan from what was observed, ask, and apply'),
  ).option('--lock-timeout <seconds>', 'with --repair: wait so long for an apply to end', wholeNumber(0, 86_400), 0)

  command(
    'import <files...>',
    'adopt what a service already holds, without writing to it',
    async () => (await import('./import.ts')).importFiles,
    ['import current.json', 'import answer.json --domain www.example.com --write-manifests'],
  )
    .option('--domain <domain>', 'the domain of an answer that names none')
    .option('--write-manifests', 'first write manifests for domains that have none')
    .option('--replace', 'replace what is recorded otherwise')
    .option('--lock-timeout <seconds>', 'wait so long for an apply to end', wholeNumber(0, 86_400), 0)

  const state = program
    .command('state')
    .description('look into the record, and drop from it')
    .addHelpText('after', examplesText(['state list', 'state show www.example.com']))
  command(
    'list',
    'domains that are recorded',
    async () => (await import('./state.ts')).stateList,
    ['state list', 'state list --json'],
    state,
  )
  command(
    'show <domain>',
    'what is recorded of a domain',
    async () => (await import('./state.ts')).stateShow,
    ['state show www.example.com', 'state show www.example.com --at 20260102T030405Z-1a2b'],
    state,
  )
    .option('--at <apply>', 'what was recorded when this apply had ended')
    .addHelpText(
      'after',
      `
--at goes back from now through what each later apply found recorded; the id of
a rollout stands for the end of its last wave. Imports and "state forget" are no
applies: what was imported since is named as not known, what was forgotten since
is missing.`,
    )

  command(
    'history',
    'the applies, and what came of them',
    async () => (await import('./state.ts')).stateHistory,
    ['state history', 'state history --json'],
    state,
  )
  command(
    'forget <domains...>',
    'take domains, or items of them, out of the record',
    async () => (await import('./forget.ts')).stateForget,
    ['state forget old.example.com', 'state forget www.example.com --item https --yes'],
    state,
  )
    .option('--item <name>', 'only this item; may be given several times', collect, [])
    .option('--lock-timeout <seconds>', 'wait so long for an apply to end', wholeNumber(0, 86_400), 0)

  command(
    'unlock',
    'end the lock of an apply that is gone',
    async () => (await import('./state.ts')).stateUnlock,
    ['state unlock', 'state unlock --yes'],
    state,
  )

  command('stats [domains...]', 'counts of status codes, by domain or summed', async () => (await import('./stats.ts')).stats, [
    'stats',
    'stats www.example.com --from 2h --grain minute',
    'stats --from 2026-11-01 --to 2026-11-07 --sum --json',
  ])
    .option('--from <time>', 'YYYY-MM-DD, "YYYY-MM-DD HH:MM", or a time ago such as 2h; 24h without it')
    .option('--to <time>', 'likewise; now without it')
    .addOption(new Option('--grain <grain>', 'how long the periods are; by the length of the time without it').choices(grains))
    .option('--sum', 'one series over all domains; "all" then names every domain of the account')

  command('prefetch', 'how far prefetch tasks are, and which failed', async () => (await import('./prefetch.ts')).prefetch, [
    'prefetch --task 1001 --wait',
    'prefetch --from 2026-11-01 --to 2026-11-07',
    'prefetch --from 2026-11-01 --to 2026-11-07 --json',
  ])
    .option('--from <date>', 'with --to: tasks of these days, YYYY-MM-DD')
    .option('--to <date>', 'the last of these days')
    .option('--url <url>', 'with --from and --to: only this URL')
    .option('--task <id>', 'all URLs of one submission')
    .option('--wait', 'until none is waiting or processing; exit with 3 when some failed')

  command('fmt', 'bring files into canonical order and style; comments stay', async () => (await import('./fmt.ts')).fmt, [
    'fmt',
    'fmt --check',
  ]).option('--check', 'change nothing; exit with 2 when a file is not formatted')

  command('explain [item]', 'what an item means: its fields, rules and an example', async () => (await import('./explain.ts')).explain, [
    'explain',
    'explain https',
    'explain https.force_https',
  ])

  command('emulator', 'run the service on this machine', async () => (await import('./emulator.ts')).emulator, [
    'emulator',
    'emulator --port 8080 --token dev --data emulator.json',
    'emulator --seed demo --fault error:on=3,status=502',
  ])
    .option('--port <number>', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 0)
    .option('--host <address>', 'address to listen on; other than loopback insists on --token', '127.0.0.1')
    .option('--token <token>', 'the only token that is accepted; without it any is')
    .option('--domains <file>', 'domains that exist, one a line; without it every well-formed one does')
    .option('--data <file>', 'keep what it is told in this file')
    .option('--calls-per-minute <number>', 'call rate of writes; 0 refuses nothing', wholeNumber(0, 1_000_000), 30)
    .addOption(new Option('--control <mode>', 'control surface under /_emulator').choices(['on', 'off']).default('on'))
    .addOption(
      new Option('--limit-style <style>', 'how a write over the call rate is refused: HTTP 429, or HTTP 200 and a code')
        .choices(['status', 'body'])
        .default('status'),
    )
    .option('--seed <text>', 'what statistics, prefetches and faults by probability are drawn from', 'edgewise')
    .option('--timezone <name>', 'time zone of dates, by its IANA name', 'UTC')
    .option('--dead-origin <address>', 'an origin that answers nobody; may be given several times', collect, [])
    .option(
      '--fault <fault>',
      'what goes wrong, e.g. reset-after:on=2 or delay:ms=500,probability=0.1; may be given several times',
      collect,
      [],
    )
    .option('--lenient', 'ignore unknown fields instead of refusing them')

  command(
    'completion',
    'print a script that completes commands, options and items in a shell',
    async () => (await import('./completion.ts')).completionOf(program),
    [
      'completion bash > /etc/bash_completion.d/edgewise',
      'completion zsh > ~/.zfunc/_edgewise',
      'completion fish > ~/.config/fish/completions/edgewise.fish',
    ],
  ).addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))

  return program
}

function examplesText(examples: string[]): string {
  return `\nExamples:\n${examples.map((example) => `  $ edgewise ${example}`).join('\n')}`
}

function globals(command: Command): Command {
  return command
    .option('-C, --workspace <dir>', 'folder to look for edgewise.yaml from')
    .option('--json', 'print JSON for programs')
    .option('-y, --yes', 'answer every question with yes')
    .option('--no-color', 'no colours')
    .option('-q, --quiet', 'results and errors only')
    .option('-v, --verbose', 'tell more')
}

function selection(command: Command): Command {
  return command
    .option('--target <glob>', 'only domains that match; may be given several times', collect, [])
    .option('--item <item>', 'only this item; may be given several times', collect, [])
}

function guarded(command: Command): Command {
  return command
    .option('--allow <item>', 'make grave changes of this item, such as certificate 0; may be given several times', collect, [])
    .option('--supersede', 'end open rollouts of the same domains where they are')
    .option('--force', 'change more domains or items than guards.maxDomains and guards.maxChanges let')
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`)
    return value
  }
}

function contextOf(io: Io, options: GlobalOptions): CommandContext {
  const colour = options.color !== false
  return {
    io,
    options,
    paint: paintFor(io.outIsTerminal, colour, io.env),
    errPaint: paintFor(io.errIsTerminal, colour, io.env),
    note: (text) => {
      if (options.quiet !== true) io.err(`${text}\n`)
    },
  }
}
