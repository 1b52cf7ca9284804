# One domain with a secret. The state stays in a folder.
cat > edgewise.yaml <<'YAML'
version: 1
state: {store: dir}
secrets:
  signing: {env: SIGNING_KEY}
YAML
mkdir domains
cat > domains/www.yaml <<'YAML'
domain: www.example.com
config:
  visit_timestamp:
    {pattern: .*, time_format: timestamp, key: "${secret:signing}", deadtime: 1800, req_uri_type: 1}
YAML
