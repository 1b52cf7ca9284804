cp -R "$REPOSITORY/examples/storefront/." .
rm -rf .edgewise
export STOREFRONT_SIGNING_KEY=any STOREFRONT_ORIGIN_TOKEN=any

# Applies the manifests, then changes a rule of the cache and a list of addresses.
apply_and_change() {
  edgewise apply --yes --quiet
  sed -i 's/expire: 5$/expire: 10/' profiles/web.yaml
  sed -i 's/203.0.113.77\]/203.0.113.77, 203.0.113.80]/' profiles/baseline.yaml
}
