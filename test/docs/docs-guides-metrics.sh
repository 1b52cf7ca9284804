source "$REPOSITORY/test/docs/four-domains.sh"
