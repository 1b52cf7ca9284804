import {
  listSteps,
  type KnownCommand,
  type KnownOption,
  type CompletionValues,
} from './known-command.ts'
/** A script for fish 3 and newer. */
export function buildFishScript(commands: KnownCommand[]): string {
  const taking = commands.flatMap(({ options }) =>
    options.flatMap(({ names, value }) => (value === null ? [] : names)),
  )
  return `# Completion of edgewise for fish. Load it with: edgewise completion fish | source
function __edgewise_at
  set -l command ''
  set -l value no
  for word in (commandline -opc)[2..-1]
    if test $value = yes
      set value no
      continue
    end
    if contains -- $word ${[...new Set(taking)].toSorted().join(' ')}
      set value yes
      continue
    end
    switch "$command/$word"
${listSteps(commands)
  .map(({ from, name, to }) => `      case '${from}/${name}'\n        set command '${to}'`)
  .join('\n')}
    end
  end
  test "$command" = "$argv[1]"
end
complete -c edgewise -f
${commands.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, options, commands, argument }: KnownCommand): string[] {
  const at = `complete -c edgewise -n "__edgewise_at '${path}'"`
  return [
    ...commands.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`),
    ...(commands.length > 0 || argument === 'any' ? [] : [`${at} ${offered(argument)}`]),
    ...options.map((option) => `${at} ${optionWords(option)}`),
  ]
}

function optionWords({ names, description, value }: KnownOption): string {
  const words = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  )
  return `${words.join(' ')}${value === null ? '' : ` -r ${offered(value)}`} -d ${quoted(description)}`
}

function offered(values: CompletionValues): string {
  if (values === 'any') return '-f'
  if (values === 'files') return '-F'
  if (values === 'folders') return "-f -a '(__fish_complete_directories)'"
  return `-f -a '${values.join(' ')}'`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
