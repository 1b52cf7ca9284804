import { readPackageFile } from '../package-files.ts'

/**
 * Builds the files of a new workspace, by path. It includes the schemas, so that editors need no
 * network.
 */
export function buildInitialFiles(): Record<string, string> {
  return {
    'edgewise.yaml': workspace,
    'domains/www.example.com.yaml': manifest,
    'profiles/baseline.yaml': profile,
    '.gitignore': '.edgewise/\n',
    'schemas/edgewise/workspace.schema.json': loadSchema('workspace'),
    'schemas/edgewise/manifest.schema.json': loadSchema('manifest'),
    'schemas/edgewise/profile.schema.json': loadSchema('profile'),
  }
}

function loadSchema(name: string): string {
  return readPackageFile(`schemas/${name}.schema.json`)
}

const workspace = `# yaml-language-server: $schema=schemas/edgewise/workspace.schema.json
version: 1
id: default
service:
  # "emulator" runs on this machine. For the real service, set its address here
  # and EDGEWISE_TOKEN in the environment.
  url: emulator
  token: \${env:EDGEWISE_TOKEN}
# State is on the branch edgewise-state, pushed to origin;
# outside a git repository in .edgewise/state.
grouping: {groups: documented, together: [[origin, origin_host, new_origin]]}
`

const manifest = `# yaml-language-server: $schema=../schemas/edgewise/manifest.schema.json
domain: www.example.com
profiles: [baseline]
config:
  origin: {default_master: [192.0.2.10, 192.0.2.11], origin_mode: https}
  origin_host: {host: origin.example.com}
`

const profile = `# yaml-language-server: $schema=../schemas/edgewise/profile.schema.json
profile: baseline
config:
  https: {cert_id: 1001, http2: on, force_https: 301}
  compress_response:
    content_type: [text/html, text/css, application/javascript]
    min_size: 1
    min_size_unit: KB
`
