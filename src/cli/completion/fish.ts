import {
  listSteps,
  type KnownCommand,
  type KnownOption,
  type CompletionValues,
} from './known-command.ts'
/** Builds the script for fish 3 and newer. */
export function buildFishScript(commands: KnownCommand[]): string {
  const withValue = commands.flatMap(({ options }) =>
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
    if contains -- $word ${[...new Set(withValue)].toSorted().join(' ')}
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
function __edgewise_domains
  set -l words (commandline -opc)
  set -l folder
  for i in (seq (count $words))
    if contains -- $words[$i] -C --workspace
      set folder -C $words[(math $i + 1)]
    end
  end
  $words[1] $folder completion-domains -- (commandline -ct) 2>/dev/null </dev/null
end
complete -c edgewise -f
${commands.flatMap(buildLines).join('\n')}
`
}

function buildLines({ path, options, commands, argument }: KnownCommand): string[] {
  const at = `complete -c edgewise -n "__edgewise_at '${path}'"`
  return [
    ...commands.map(({ name, description }) => `${at} -a ${name} -d ${quote(description)}`),
    ...(commands.length > 0 || argument === 'any' ? [] : [`${at} ${formatValues(argument)}`]),
    ...options.map((option) => `${at} ${formatOption(option)}`),
  ]
}

function formatOption({ names, description, value }: KnownOption): string {
  const words = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  )
  return (
    `${words.join(' ')}${value === null ? '' : ` -r ${formatValues(value)}`} -d ` +
    quote(description)
  )
}

function formatValues(values: CompletionValues): string {
  if (values === 'any') return '-f'
  if (values === 'files') return '-F'
  if (values === 'folders') return "-f -a '(__fish_complete_directories)'"
  if (values === 'domains') return "-f -a '(__edgewise_domains)'"
  return `-f -a '${values.join(' ')}'`
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
