# Six domains that a rollout changes in three waves; the second one needs an approval.
start_a_rollout() {
  cat > edgewise.yaml <<'YAML'
version: 1
state: {store: dir}
rollout: {waves: [1, 3, 100%], pause: 0s, approval: [2]}
YAML
  mkdir domains profiles
  printf 'profile: baseline\nconfig: {timeout: {time: 60}}\n' > profiles/baseline.yaml
  for name in a b c d e f; do
    printf 'domain: %s.example.com\nprofiles: [baseline]\n' "$name" > "domains/$name.yaml"
  done
}
