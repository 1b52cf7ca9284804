# A clone whose state is on the branch of a remote.
git init -q --bare remote.git
git clone -q remote.git clone 2>/dev/null
cd clone
mkdir domains
echo 'version: 1' > edgewise.yaml
printf 'domain: www.example.com\nconfig: {timeout: {time: 60}}\n' > domains/www.yaml
printf '.edgewise/\n' > .gitignore
git add .
git commit -qm 'Manage a domain'
git push -q origin main
edgewise apply --yes
