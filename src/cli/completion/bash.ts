import { listSteps, type KnownCommand, type CompletionValues } from './known-command.ts'
/** Builds the script for bash 3.2 and newer; it needs no other package. */
export function buildBashScript(commands: KnownCommand[]): string {
  const options = commands.flatMap(({ options: own, path }) =>
    own.flatMap(({ names, value }) =>
      value === null ? [] : names.map((name) => ({ path, name, value })),
    ),
  )
  const withValue = [...new Set(options.map(({ name }) => name))].toSorted()
  return `# Completion of edgewise for bash. Load it with: source <(edgewise completion bash)
_edgewise_paths() {
  COMPREPLY=($(compgen "$1" -- "$cur"))
  # bash 3 has no compopt, and then quotes no blanks.
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
}
_edgewise_domains() {
  # Names of domains have no character that the shell interprets.
  COMPREPLY=($("\${COMP_WORDS[0]}" \${folder[@]+"\${folder[@]}"} completion-domains -- "$cur" \\
    2>/dev/null </dev/null))
}
_edgewise() {
  local IFS=$'\n' cur prev word command="" folder i
  cur="\${COMP_WORDS[COMP_CWORD]}"
  prev="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  folder=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$word" in
      -C|--workspace) folder=(-C "\${COMP_WORDS[i+1]}") ;;
    esac
    case "$word" in
      ${withValue.join('|')}) i=$((i + 1)); continue ;;
    esac
    case "$command/$word" in
${listSteps(commands)
  .map(({ from, name, to }) => `      '${from}/${name}') command='${to}' ;;`)
  .join('\n')}
    esac
  done
  case "$command/$prev" in
${options
  .map(({ path, name, value }) => `    '${path}/${name}') ${formatValues(value)}; return ;;`)
  .join('\n')}
  esac
  case "$command/$cur" in
${commands.map(formatOptionCase).join('\n')}
${commands.map(formatArgumentCase).join('\n')}
  esac
}
complete -F _edgewise edgewise
`
}

function formatOptionCase({ path, options }: KnownCommand): string {
  return `    '${path}'/-*) ${formatValues(options.flatMap(({ names }) => names))} ;;`
}

function formatArgumentCase({ path, commands, argument }: KnownCommand): string {
  const values = commands.length > 0 ? commands.map(({ name }) => name) : argument
  return `    '${path}'/*) ${formatValues(values)} ;;`
}

function formatValues(values: CompletionValues): string {
  if (values === 'any') return ':'
  if (values === 'files') return '_edgewise_paths -f'
  if (values === 'folders') return '_edgewise_paths -d'
  if (values === 'domains') return '_edgewise_domains'
  return `COMPREPLY=($(compgen -W $'${values.join('\\n')}' -- "$cur"))`
}
