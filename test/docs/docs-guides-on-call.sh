source "$REPOSITORY/test/docs/four-domains.sh"

# Shop fails fast and blocks a client; somebody changed it at the service; another change is merged.
manifest shop 'profiles: [baseline]
config:
  timeout: {time: 9}
  ip_black_list: {list: [203.0.113.77]}'
commit 'Fail fast, and block a scraper'
manifest img 'profiles: [baseline]
config: {timeout: {time: 20}}'
git commit -qam 'Wait less for images'
cat > query-cdn <<'SH'
#!/bin/sh
cat <<'JSON'
{"shop.example.com": {"timeout": {"time": 99}, "ip_black_list": {"list": ["203.0.113.77"]}},
 "img.example.com": {"timeout": {"time": 60}}, "css.example.com": {"timeout": {"time": 60}},
 "js.example.com": {"timeout": {"time": 60}}}
JSON
SH
chmod +x query-cdn
