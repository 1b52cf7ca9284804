# Four domains share a profile, and are applied; then the profile changes.
cat > edgewise.yaml <<'YAML'
version: 1
YAML
mkdir domains profiles
for name in css img js; do
  cat > "domains/$name.yaml" <<YAML
domain: $name.example.com
profiles: [baseline]
config: {origin: {default_master: [192.0.2.10], origin_mode: https}}
YAML
done
cat > domains/shop.yaml <<'YAML'
domain: shop.example.com
profiles: [baseline]
config:
  origin: {default_master: [192.0.2.10, 192.0.2.11], origin_mode: https}
  ip_black_list: {list: {$append: [203.0.113.9]}}
YAML
cat > profiles/baseline.yaml <<'YAML'
profile: baseline
config:
  https: {cert_id: 1001, http2: on, force_https: 302}
  ip_black_list: {list: [198.51.100.7]}
YAML
edgewise apply --yes
sed -i 's/force_https: 302/force_https: 301/' profiles/baseline.yaml
