# One domain with two items that conflict. The state stays in a folder.
cat > edgewise.yaml <<'YAML'
version: 1
state: {store: dir}
YAML
mkdir domains
cat > domains/www.yaml <<'YAML'
domain: www.example.com
config:
  origin: {default_master: 192.0.2.10}
  new_origin: [{origin: 192.0.2.20, level: 20}]
YAML

# Writes twenty manifests, of which one differs.
write_twenty() {
  for i in $(seq 10 29); do
    printf 'domain: d%s.example.com\nconfig: {timeout: {time: %s}}\n' \
      "$i" "$((i == 17 ? 30 : 60))" > "domains/d$i.yaml"
  done
}
