cp -R "$REPOSITORY/examples/every-item/." .
rm -rf .edgewise
