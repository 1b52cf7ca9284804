source "$REPOSITORY/test/docs/four-domains.sh"

# age DOMAIN DAYS: its connect_timeout was confirmed so many days ago.
age() {
  at=$(node -p "new Date(Date.now() - $2 * 86400000 - 60000).toISOString()")
  find .edgewise/state -name "$1.example.com.json" \
    -exec sed -i "/connect_timeout/s/\"at\":\"[^\"]*\"/\"at\":\"$at\"/" {} +
}

# The service has another value for one domain. Two items were confirmed long ago.
manifest css 'config: {timeout: {time: 60}, connect_timeout: {origin_connect_timeout: 5}}'
manifest img 'config: {timeout: {time: 60}, connect_timeout: {origin_connect_timeout: 5}}'
commit 'Connect quickly'
age css 3
age img 12
cat > query-cdn <<'SH'
#!/bin/sh
cat <<'JSON'
{"shop.example.com": {"timeout": {"time": 99}}, "img.example.com": {"timeout": {"time": 60}},
 "css.example.com": {"timeout": {"time": 60}}, "js.example.com": {"timeout": {"time": 60}}}
JSON
SH
chmod +x query-cdn
