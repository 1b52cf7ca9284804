source "$REPOSITORY/test/docs/four-domains.sh"

manifest shop 'config: {timeout: {time: 9}}'
manifest img 'config: {timeout: {time: 9}, connect_timeout: {origin_connect_timeout: 5}}'
commit 'Fail fast'
