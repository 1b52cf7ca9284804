# One domain. The state stays in a folder.
cat > edgewise.yaml <<'YAML'
version: 1
state: {store: dir}
YAML
mkdir domains
printf 'domain: www.example.com\nconfig: {timeout: {time: 60}}\n' > domains/www.yaml
