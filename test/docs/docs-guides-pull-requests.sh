# Four domains in a git repository, with state in a folder, so that a later step can age it.
git init -q
cat > edgewise.yaml <<'YAML'
version: 1
state: {store: dir}
YAML
printf '.edgewise/\nplan.json\nquery-cdn\n' > .gitignore
mkdir domains profiles
for name in css img js shop; do
  printf 'domain: %s.example.com\nprofiles: [baseline]\nconfig: {}\n' "$name" > "domains/$name.yaml"
done
printf 'profile: baseline\nconfig: { timeout: { time: 60 } }\n' > profiles/baseline.yaml
edgewise fmt
git add .
git commit -qm 'Manage four domains'
edgewise apply --yes

# The editor of the page.
edit() { sed -i 's/time: 60/time: 90/' "$1"; }

merge_and_save_plan() {
  git commit -qam 'Wait longer'
  edgewise plan --out plan.json
}

# Commits the manifests, and applies them.
commit() { git commit -qam "$1" && edgewise apply --yes; }
manifest() { printf 'domain: %s.example.com\n%s\n' "$1" "$2" > "domains/$1.yaml"; }

apply_a_mistake() {
  sed -i 's/time: 90/time: 60/' profiles/baseline.yaml
  commit 'Wait less'
  manifest shop 'config: {timeout: {time: 9}}'
  manifest img 'config: {timeout: {time: 9}, connect_timeout: {origin_connect_timeout: 5}}'
  commit 'Fail fast'
}

# The service has another value for one domain. Two items were confirmed long ago.
change_a_value_at_the_service() {
  git revert --no-edit HEAD
  manifest css 'config: {timeout: {time: 60}, connect_timeout: {origin_connect_timeout: 5}}'
  manifest img 'config: {timeout: {time: 60}, connect_timeout: {origin_connect_timeout: 5}}'
  commit 'Connect quickly'
  age css 3
  age img 12
  cat > query-cdn <<'SH'
#!/bin/sh
cat <<'JSON'
{"shop.example.com": {"timeout": {"time": 99}}, "img.example.com": {"timeout": {"time": 60}},
 "css.example.com": {"timeout": {"time": 60}}, "js.example.com": {"timeout": {"time": 60}}}
JSON
SH
  chmod +x query-cdn
}

# age DOMAIN DAYS: its connect_timeout was confirmed so many days ago.
age() {
  at=$(node -p "new Date(Date.now() - $2 * 86400000 - 60000).toISOString()")
  find .edgewise/state -name "$1.example.com.json" \
    -exec sed -i "/connect_timeout/s/\"at\":\"[^\"]*\"/\"at\":\"$at\"/" {} +
}
