import { listSteps, type KnownCommand, type CompletionValues } from './known-command.ts'
/** Builds the script for zsh, to be sourced or installed in `$fpath` as `_edgewise`. */
export function buildZshScript(commands: KnownCommand[]): string {
  const options = commands.flatMap(({ options: own, path }) =>
    own.flatMap(({ names, value }) =>
      value === null ? [] : names.map((name) => ({ path, name, value })),
    ),
  )
  const withValue = [...new Set(options.map(({ name }) => name))].toSorted()
  return `#compdef edgewise
# Completion of edgewise for zsh. Load it with: source <(edgewise completion zsh)
_edgewise_domains() {
  compadd -- \${(f)"$($words[1] $folder completion-domains -- "$words[CURRENT]" \\
    2>/dev/null </dev/null)"}
}
_edgewise() {
  local command= word i
  local -a offers folder
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    [[ $word == (-C|--workspace) ]] && folder=(-C "$words[i+1]")
    case $word in
      (${withValue.join('|')}) ((i++)); continue ;;
    esac
    case $command/$word in
${listSteps(commands)
  .map(({ from, name, to }) => `      ('${from}/${name}') command='${to}' ;;`)
  .join('\n')}
    esac
  done
  case $command/$words[CURRENT-1] in
${options
  .map(({ path, name, value }) => `    ('${path}/${name}') ${formatValues(value)}; return ;;`)
  .join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    case $command in
${commands.map(formatOptionCase).join('\n')}
    esac
    return
  fi
  case $command in
${commands.map(formatArgumentCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _edgewise ]]; then
  _edgewise "$@"
else
  compdef _edgewise edgewise
fi
`
}

function formatOptionCase({ path, options }: KnownCommand): string {
  const entries = options.flatMap(({ names, description }) =>
    names.map((name) => ({ name, description })),
  )
  return `      ('${path}') ${formatDescriptions(entries)} ;;`
}

function formatArgumentCase({ path, commands, argument }: KnownCommand): string {
  const offers = commands.length > 0 ? formatDescriptions(commands) : formatValues(argument)
  return `    ('${path}') ${offers} ;;`
}

function formatValues(values: CompletionValues): string {
  if (values === 'any') return 'return 1'
  if (values === 'files') return '_files'
  if (values === 'folders') return '_files -/'
  if (values === 'domains') return '_edgewise_domains'
  return `compadd -- ${values.join(' ')}`
}

function formatDescriptions(entries: { name: string; description: string }[]): string {
  const offers = entries.map(
    ({ name, description }) => `'${`${name}:${description}`.replaceAll("'", `'\\''`)}'`,
  )
  return `offers=(${offers.join(' ')}); _describe edgewise offers`
}
