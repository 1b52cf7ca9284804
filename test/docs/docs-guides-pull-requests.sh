source "$REPOSITORY/test/docs/four-domains.sh"

# The editor of the page.
edit() { sed -i 's/time: 60/time: 90/' "$1"; }

merge_and_save_plan() {
  git commit -qam 'Wait longer'
  edgewise plan --out plan.json
}
