# The package under the name that the page uses. Nothing is loaded from a registry.
export npm_config_offline=true npm_config_update_notifier=false
npm pack --silent --ignore-scripts --pack-destination . "$REPOSITORY"
mv edgewise-*.tgz edgewise-VERSION.tgz
