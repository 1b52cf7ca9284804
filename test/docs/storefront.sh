# The example `storefront` is applied in the current folder; then some of it changes.
cp -R "$REPOSITORY/examples/storefront/." .
rm -rf .edgewise
export STOREFRONT_SIGNING_KEY=any STOREFRONT_ORIGIN_TOKEN=any
printf 'limits: {callsPerMinute: 30}\n' >> edgewise.yaml
edgewise apply --yes --quiet
sed -i 's/203.0.113.77\]/203.0.113.77, 203.0.113.80]/; s/=31536000/=63072000/' profiles/baseline.yaml
sed -i 's/expire: 5$/expire: 10/' profiles/web.yaml
sed -i '/speed_limit:/,+1d' profiles/video.yaml
sed -i 's/_timeout: 20/_timeout: 30/' domains/web/asia.yaml
sed -i 's/limit_value: 2}/limit_value: 5}/' domains/checkout/checkout.yaml
printf 'ip_black_list: null\n' | sed 's/^/  /' >> domains/web/mobile.yaml

# Plans these changes in three waves, the second of which needs an approval.
plan_a_rollout() {
  cat >> edgewise.yaml <<'YAML'
rollout: {waves: [2, 30%, 100%], first: [m.example.com], pause: 10m, approval: [2]}
YAML
  edgewise plan --report page.html
}
