import type { Argument, Command, Option } from 'commander'
import { formatCode, formatPage, formatProse } from './markdown.ts'

/** The guide of a command, by its first word or by all of its name. */
const guides: Record<string, string> = {
  init: '../getting-started.md',
  validate: '../guides/findings.md',
  test: '../guides/test-manifests.md',
  plan: '../guides/pull-requests.md',
  apply: '../guides/pull-requests.md',
  rollback: '../guides/rollback.md',
  rollout: '../guides/rollouts.md',
  show: '../guides/on-call.md',
  report: '../guides/on-call.md',
  trace: '../guides/trace.md',
  policies: '../guides/policies.md',
  drift: '../guides/drift.md',
  import: '../guides/adopting-a-fleet.md',
  'state history': '../guides/history.md',
  'state verify': '../guides/history.md',
  'state move': '../guides/move-a-domain.md',
  'state migrate': '../guides/many-repositories.md',
  'state prune': '../guides/rollback.md',
  stats: '../guides/observe.md',
  prefetch: '../guides/observe.md',
  lsp: '../guides/editors.md',
  serve: '../guides/serve.md',
  mcp: '../guides/assistants.md',
  emulator: 'emulator.md',
}

/** Builds the page of all commands, in the order of the help. */
export function buildCommandsPage(program: Command): string {
  const commands = listCommands(program)
  const globalOptions = new Set(program.options.map(({ long }) => long))
  const shared = listSharedOptions(commands, globalOptions)
  return formatPage(
    'Commands',
    formatProse(
      'Results go to stdout, everything else (progress, warnings, errors) to stderr. ' +
        '`edgewise help COMMAND` adds notes and examples. A `--target` or `--item` that selects ' +
        'nothing is an error. ' +
        'See [exit codes](exit-codes.md), [environment variables](environment.md) and ' +
        '[JSON output](json.md).',
    ),
    '## Options of every command',
    [...program.options.filter(({ long }) => long !== '--version'), ...listHelpOptions(program)]
      .map((option) => formatOption(option))
      .join('\n'),
    formatProse('`edgewise` alone also has `-V, --version`, which prints the version.'),
    '## Options of several commands',
    [...shared].join('\n'),
    ...commands.map((command) => formatCommand(command, globalOptions, shared)),
  )
}

/** Lists the options of several commands, each with the description that most of them give it. */
function listSharedOptions(
  commands: readonly Command[],
  globalOptions: ReadonlySet<string | undefined>,
): ReadonlySet<string> {
  const shown = commands.flatMap((command) =>
    listOwnOptions(command, globalOptions).map(formatShared),
  )
  const count = (option: string) => shown.filter((other) => other === option).length
  const shared = new Map<string | undefined, string>()
  for (const option of shown) {
    const [label] = option.split('`: ')
    if (count(option) > Math.max(1, count(shared.get(label) ?? ''))) shared.set(label, option)
  }
  return new Set(shared.values())
}

/** Lists the commands of the help that do something, not those that only have others below them. */
export function listCommands(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help')
    .flatMap((child) => {
      // Those that only have others below them have no options.
      const isOwn = child.commands.length === 0 || child.options.length > 0
      return [...(isOwn ? [child] : []), ...listCommands(child)]
    })
}

function getName(command: Command): string {
  const parent = command.parent
  return parent === null || parent.parent === null
    ? command.name()
    : `${getName(parent)} ${command.name()}`
}

function listOwnOptions(
  command: Command,
  globalOptions: ReadonlySet<string | undefined>,
): readonly Option[] {
  return command.options.filter(({ long, hidden }) => !hidden && !globalOptions.has(long))
}

function formatCommand(
  command: Command,
  globalOptions: ReadonlySet<string | undefined>,
  shared: ReadonlySet<string>,
): string {
  const options = listOwnOptions(command, globalOptions)
  const described = command.registeredArguments.filter(({ description }) => description !== '')
  const own = options.filter((option) => !shared.has(formatShared(option)))
  const others = options.filter((option) => shared.has(formatShared(option)))
  const name = getName(command)
  const guide = guides[name] ?? guides[name.split(' ')[0] ?? '']
  const usage = `${name} ${command.usage().replace('[options]', '')}`
  return [
    `## ${name}`,
    formatProse(
      `${formatCode(usage.trim().replaceAll(/ +/g, ' '))}: ${command.description()}` +
        (guide === undefined ? '.' : ` ([guide](${guide})).`),
    ),
    [
      ...described.map(formatArgument),
      ...own.map((option) => formatOption(option)),
      ...(others.length === 0
        ? []
        : [formatProse(`as above: ${others.map(formatReference).join(', ')}`, '- ', '  ')]),
    ].join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function formatArgument(argument: Argument): string {
  const label = argument.required ? `<${argument.name()}>` : `[${argument.name()}]`
  const choices = argument.argChoices?.map(formatCode).join(', ')
  return formatProse(
    `${argument.description}${choices === undefined ? '' : `: ${choices}`}`,
    `- ${formatCode(label)}: `,
    '  ',
  )
}

/** Refers to an option that several commands share, with its default here. */
function formatReference(option: Option): string {
  const facts = describeDefault(option)
  const name = formatCode(String(option.long))
  return facts.length === 0 ? name : `${name} (${facts.join('; ')})`
}

/** Formats an option, without its default where several commands share it. */
function formatShared(option: Option): string {
  return formatOption(option, false)
}

function formatOption(option: Option, hasDefault = true): string {
  const facts = [
    ...(option.argChoices === undefined
      ? []
      : [`one of ${option.argChoices.map(formatCode).join(', ')}`]),
    ...(option.mandatory ? ['required'] : []),
    ...(hasDefault ? describeDefault(option) : []),
  ]
  const text = `${option.description}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`
  return formatProse(text, `- ${formatCode(option.flags)}: `, '  ')
}

/** Describes a default that is a value; a flag and an empty list have none to speak of. */
function describeDefault({ defaultValue, negate }: Option): string[] {
  if (negate || defaultValue === undefined || typeof defaultValue === 'boolean') return []
  if (Array.isArray(defaultValue)) return []
  return [`default ${formatCode(String(defaultValue))}`]
}

/** Lists the option of the help, which commander keeps apart from the others. */
function listHelpOptions(program: Command): readonly Option[] {
  return program
    .createHelp()
    .visibleOptions(program)
    .filter(({ long }) => long === '--help')
}
