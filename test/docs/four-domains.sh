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

# Commits the manifests, and applies them.
commit() { git commit -qam "$1" && edgewise apply --yes; }
manifest() { printf 'domain: %s.example.com\n%s\n' "$1" "$2" > "domains/$1.yaml"; }
