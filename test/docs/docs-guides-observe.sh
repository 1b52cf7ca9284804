# An emulator whose clock this page sets: an origin is dead in the last minutes.
mkdir domains
cat > domains/www.yaml <<'YAML'
domain: www.example.com
config: {origin: {default_master: [192.0.2.10]}}
YAML
cat > domains/img.yaml <<'YAML'
domain: img.example.com
config: {origin: {default_master: [192.0.2.20]}}
YAML
edgewise emulator --port 0 > address &
until grep -q http address; do sleep 0.1; done
url=$(sed 's/listening on //' address)
export EDGEWISE_TOKEN=any
printf 'version: 1\nservice: {url: "%s", token: "${env:EDGEWISE_TOKEN}"}\nstate: {store: dir}\n' "$url" > edgewise.yaml
tell() {
  node -e '
    const [url, body] = process.argv.slice(1)
    const headers = { "content-type": "application/json" }
    void fetch(url, { method: "POST", headers, body }).then(({ ok }) => process.exit(ok ? 0 : 1))
  ' "$url/_emulator/$1" "$2"
}
now=$(node -p 'Date.now()')
tell clock "{\"now\": $((now - 8 * 3600 * 1000))}"
edgewise apply --yes
tell clock "{\"now\": $((now - 24 * 60 * 1000))}"
tell origins '{"dead": ["192.0.2.10"]}'
tell clock "{\"now\": $now}"
tell prefetch "{\"task_id\": 1001, \"urls\": [$(seq -f '"https://img.example.com/%g"' -s, 60)]}"
while sleep 1; do tell clock '{"advanceMs": 10000}'; done &
