import { listSteps, type KnownCommand, type CompletionValues } from './known-command.ts'
/** A script for zsh, to be loaded or to lie in `$fpath` as `_edgewise`. */
export function buildZshScript(commands: KnownCommand[]): string {
  const options = commands.flatMap(({ options: own, path }) =>
    own.flatMap(({ names, value }) =>
      value === null ? [] : names.map((name) => ({ path, name, value })),
    ),
  )
  const taking = [...new Set(options.map(({ name }) => name))].toSorted()
  return `#compdef edgewise
# Completion of edgewise for zsh. Load it with: source <(edgewise completion zsh)
_edgewise() {
  local command= word i
  local -a offers
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    case $word in
      (${taking.join('|')}) ((i++)); continue ;;
    esac
    case $command/$word in
${listSteps(commands)
  .map(({ from, name, to }) => `      ('${from}/${name}') command='${to}' ;;`)
  .join('\n')}
    esac
  done
  case $command/$words[CURRENT-1] in
${options.map(({ path, name, value }) => `    ('${path}/${name}') ${offered(value)}; return ;;`).join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    case $command in
${commands.map(({ path, options: own }) => `      ('${path}') ${described(own.flatMap(({ names, description }) => names.map((name) => ({ name, description }))))} ;;`).join('\n')}
    esac
    return
  fi
  case $command in
${commands.map(({ path, commands: below, argument }) => `    ('${path}') ${below.length > 0 ? described(below) : offered(argument)} ;;`).join('\n')}
  esac
}
if [[ $funcstack[1] == _edgewise ]]; then
  _edgewise "$@"
else
  compdef _edgewise edgewise
fi
`
}

function offered(values: CompletionValues): string {
  if (values === 'any') return 'return 1'
  if (values === 'files') return '_files'
  if (values === 'folders') return '_files -/'
  return `compadd -- ${values.join(' ')}`
}

function described(entries: { name: string; description: string }[]): string {
  const offers = entries.map(
    ({ name, description }) => `'${`${name}:${description}`.replaceAll("'", `'\\''`)}'`,
  )
  return `offers=(${offers.join(' ')}); _describe edgewise offers`
}
