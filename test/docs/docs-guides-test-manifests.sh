cp -R "$REPOSITORY/examples/storefront/." .
rm -rf .edgewise
export STOREFRONT_SIGNING_KEY=any STOREFRONT_ORIGIN_TOKEN=any
