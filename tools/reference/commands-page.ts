import type { Argument, Command, Option } from 'commander'
import { createAnchor, formatBlock, formatCode, formatPage, formatProse } from './markdown.ts'

/** Builds the page of all commands, in the order of the help. */
export function buildCommandsPage(program: Command): string {
  const commands = listCommands(program)
  const globalOptions = new Set(program.options.map(({ long }) => long))
  return formatPage(
    'Commands',
    'the declarations of the program',
    formatProse(
      'Results go to stdout, everything else (progress, warnings, errors) to stderr. ' +
        '`edgewise help COMMAND` prints what stands here. Each `--target` and each `--item` must ' +
        'match: one that selects nothing is an error, also beside others. ' +
        '[Exit codes](exit-codes.md), [environment variables](environment.md) and ' +
        '[JSON output](json.md) have pages of their own.',
    ),
    commands
      .map(
        (command) =>
          `- [${formatCode(getName(command))}](#${createAnchor(getName(command))}): ` +
          command.description(),
      )
      .join('\n'),
    '## Options of every command',
    [...program.options.filter(({ long }) => long !== '--version'), ...listHelpOptions(program)]
      .map(formatOption)
      .join('\n'),
    formatProse('`edgewise` alone also has `-V, --version`, which prints the version.'),
    ...commands.map((command) => formatCommand(command, globalOptions)),
  )
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

function formatCommand(command: Command, globalOptions: ReadonlySet<string | undefined>): string {
  const options = command.options.filter(({ long, hidden }) => !hidden && !globalOptions.has(long))
  const described = command.registeredArguments.filter(({ description }) => description !== '')
  const { notes, examples } = parseHelp(command)
  const name = getName(command)
  return [
    `## ${name}`,
    formatProse(`${capitalize(command.description())}.`),
    formatBlock('', `edgewise ${name} ${command.usage()}`),
    ...(described.length + options.length === 0
      ? []
      : [[...described.map(formatArgument), ...options.map(formatOption)].join('\n')]),
    ...notes,
    ...(examples === '' ? [] : ['Examples:', formatBlock('console', examples)]),
  ].join('\n\n')
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

function formatOption(option: Option): string {
  const facts = [
    ...(option.argChoices === undefined
      ? []
      : [`one of ${option.argChoices.map(formatCode).join(', ')}`]),
    ...(option.mandatory ? ['required'] : []),
    ...describeDefault(option),
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

/** Parses the text after the options of a command's help: paragraphs, and the examples. */
function parseHelp(command: Command): { notes: string[]; examples: string } {
  let text = ''
  command.configureOutput({ writeOut: (part) => void (text += part) })
  command.outputHelp()
  const after = text.slice(command.helpInformation().length)
  const [, examples = ''] = /^Examples:\n((?: {2}.*\n?)+)/m.exec(after) ?? []
  const notes = after
    .replace(/^Examples:\n(?: {2}.*\n?)+/m, '')
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
  return {
    notes: notes.map((paragraph) =>
      paragraph.includes('\n  ') ? formatBlock('', paragraph) : formatProse(paragraph),
    ),
    examples: examples.replaceAll(/^ {2}/gm, ''),
  }
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
