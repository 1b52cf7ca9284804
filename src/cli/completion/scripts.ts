/**
 * Completion scripts by shell. Each asks the program for the completions of the words so far: a
 * line `files` or `folders`, which the shell completes by itself, or a line for each word, with a
 * tab and its description if there is one.
 */
export const scripts = {
  // bash 3.2 and newer, without another package.
  bash: `# Completion of edgewise for bash. Load it with: source <(edgewise completion bash)
_edgewise() {
  local IFS=$'\\n' cur="\${COMP_WORDS[COMP_CWORD]}" found
  found=$("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" \\
    2>/dev/null </dev/null)
  COMPREPLY=()
  case "$found" in
    files|folders)
      [[ $found == files ]] && COMPREPLY=($(compgen -f -- "$cur"))
      [[ $found == folders ]] && COMPREPLY=($(compgen -d -- "$cur"))
      # bash 3 has no compopt, and then quotes no blanks.
      type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null ;;
    # No word has a character that the shell interprets.
    *) COMPREPLY=($(printf '%s' "$found" | cut -f 1)) ;;
  esac
}
complete -F _edgewise edgewise
`,
  // To be sourced, or installed in $fpath as _edgewise.
  zsh: `#compdef edgewise
# Completion of edgewise for zsh. Load it with: source <(edgewise completion zsh)
_edgewise() {
  local found line word text
  local -a offers
  found=$($words[1] complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)
  case $found in
    (files) _files ;;
    (folders) _files -/ ;;
    (?*)
      for line in "\${(@f)found}"; do
        word=\${line%%$'\\t'*}
        text=\${line#*$'\\t'}
        offers+=("\${word//:/\\\\:}\${\${text:#$word}:+:$text}")
      done
      _describe edgewise offers ;;
    (*) return 1 ;;
  esac
}
if [[ $funcstack[1] == _edgewise ]]; then
  _edgewise "$@"
else
  compdef _edgewise edgewise
fi
`,
  // fish 3 and newer.
  fish: `# Completion of edgewise for fish. Load it with: edgewise completion fish | source
function __edgewise_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] complete -- $words[2..-1] 2>/dev/null </dev/null)
  switch "$found[1]"
    case files
      __fish_complete_path (commandline -ct)
    case folders
      __fish_complete_directories (commandline -ct)
    case '*'
      printf '%s\\n' $found
  end
end
complete -c edgewise -f -a '(__edgewise_complete)'
`,
} as const
