# Two repositories with a common folder of state. The manifest of the domain is in both.
workspace() {
  mkdir -p "$1/domains"
  git -C "$1" init -q
  printf 'version: 1\nid: %s\nstate: {store: dir, path: %s/state}\n' "$1" "$PWD" > "$1/edgewise.yaml"
  printf '.edgewise/\n' > "$1/.gitignore"
  manifest "$1" "$2"
  git -C "$1" add .
  git -C "$1" commit -qm "Manage $2"
  edgewise -C "$1" apply --yes
}
manifest() { printf 'domain: %s\nconfig: {timeout: {time: 60}}\n' "$2" > "$1/domains/$2.yaml"; }

workspace shop api.example.com
workspace web shop.example.com
manifest shop shop.example.com
git -C shop add .
git -C shop commit -qm 'Manage shop.example.com'
cd web
