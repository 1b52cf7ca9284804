# The branch of state was deleted at the remote: one clone has used it, a fresh one has not.
edgewise emulator --port 18097 --token sesame --extended > address &
until grep -q http address; do sleep 0.1; done
export EDGEWISE_TOKEN=sesame
git init -q --bare remote.git
git clone -q remote.git used 2>/dev/null
cd used
mkdir domains
printf 'version: 1\nservice: {url: http://127.0.0.1:18097, readBack: true}\n' > edgewise.yaml
printf 'domain: www.example.com\nconfig: {timeout: {time: 60}, connect_timeout: {origin_connect_timeout: 5}}\n' \
  > domains/www.yaml
printf '.edgewise/\n' > .gitignore
git add .
git commit -qm 'Manage a domain'
git push -q origin main
edgewise apply --yes
git push -q origin :edgewise-state
git clone -q ../remote.git ../fresh
cd ../fresh
