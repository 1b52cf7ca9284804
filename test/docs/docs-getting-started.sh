# The page names a commit by a placeholder.
edgewise() {
  local action="team/edgewise@$(printf '%040d' 1)"
  command edgewise "${@/OWNER\/REPO@SHA/$action}"
}
