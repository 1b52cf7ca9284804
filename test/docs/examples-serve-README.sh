cp -R "$REPOSITORY/examples/serve/." .
rm -rf repository
