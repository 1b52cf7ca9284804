import { listSteps, type KnownCommand, type CompletionValues } from './known-command.ts'
/** A script for bash 3.2 and newer; it needs no other package. */
export function buildBashScript(commands: KnownCommand[]): string {
  const options = commands.flatMap(({ options: own, path }) =>
    own.flatMap(({ names, value }) =>
      value === null ? [] : names.map((name) => ({ path, name, value })),
    ),
  )
  const taking = [...new Set(options.map(({ name }) => name))].toSorted()
  return `# Completion of edgewise for bash. Load it with: source <(edgewise completion bash)
_edgewise_paths() {
  COMPREPLY=($(compgen "$1" -- "$cur"))
  # bash 3 has no compopt, and then quotes no blanks.
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
}
_edgewise() {
  local IFS=$'\n' cur prev word command="" i
  cur="\${COMP_WORDS[COMP_CWORD]}"
  prev="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$word" in
      ${taking.join('|')}) i=$((i + 1)); continue ;;
    esac
    case "$command/$word" in
${listSteps(commands)
  .map(({ from, name, to }) => `      '${from}/${name}') command='${to}' ;;`)
  .join('\n')}
    esac
  done
  case "$command/$prev" in
${options.map(({ path, name, value }) => `    '${path}/${name}') ${offered(value)}; return ;;`).join('\n')}
  esac
  case "$command/$cur" in
${commands.map(({ path, options: own }) => `    '${path}'/-*) ${offered(own.flatMap(({ names }) => names))} ;;`).join('\n')}
${commands.map(({ path, commands: below, argument }) => `    '${path}'/*) ${offered(below.length > 0 ? below.map(({ name }) => name) : argument)} ;;`).join('\n')}
  esac
}
complete -F _edgewise edgewise
`
}

function offered(values: CompletionValues): string {
  if (values === 'any') return ':'
  if (values === 'files') return '_edgewise_paths -f'
  if (values === 'folders') return '_edgewise_paths -d'
  return `COMPREPLY=($(compgen -W $'${values.join('\\n')}' -- "$cur"))`
}
