cp -R "$REPOSITORY/examples/storefront/." .
rm -rf .edgewise
