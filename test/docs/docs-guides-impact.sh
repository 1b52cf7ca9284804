# Six domains of the built-in emulator, of which three are to be changed.
printf 'version: 1\nstate: {store: dir}\n' > edgewise.yaml
mkdir domains policies
for name in www shop img api docs beta; do
  printf 'domain: %s.example.com\nconfig: {timeout: {time: 60}}\n' "$name" > "domains/$name.yaml"
done
edgewise apply --yes
for name in www shop beta; do
  printf 'domain: %s.example.com\nconfig: {timeout: {time: 90}}\n' "$name" > "domains/$name.yaml"
done
