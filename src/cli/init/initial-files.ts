import { addSchemaLine, schemaName } from '../../manifest/schema-line.ts'
import { readPackageFile } from '../package-files.ts'
import { formatScalar } from './placement.ts'

/**
 * Builds the files of a new workspace, by path. It includes the schema, so that editors need no
 * network.
 *
 * @param id of the workspace
 * @param schema path of a schema that the workspace shares with others; null if there is none
 */
export function buildInitialFiles(id: string, schema: string | null): Record<string, string> {
  const texts = {
    'edgewise.yaml': buildWorkspace(id),
    'domains/www.example.com.yaml': manifest,
    'profiles/baseline.yaml': profile,
  }
  const files = Object.entries(texts).map(([path, text]) => {
    return [path, addSchemaLine({ path, text }, schema ?? schemaName).text]
  })
  return {
    ...(Object.fromEntries(files) as Record<string, string>),
    '.gitignore': '.edgewise/\n',
    ...(schema === null ? { [schemaName]: readPackageFile(`schemas/${schemaName}`) } : {}),
  }
}

const buildWorkspace = (id: string) => `version: 1
id: ${formatScalar(id)}
service:
  # "emulator" runs on this machine. For the real service, set its address here
  # and EDGEWISE_TOKEN in the environment.
  url: emulator
  token: \${env:EDGEWISE_TOKEN}
# State is on the branch edgewise-state, pushed to origin;
# outside a git repository in .edgewise/state.
grouping: {groups: documented, together: [[origin, origin_host, new_origin]]}
`

const manifest = `domain: www.example.com
profiles: [baseline]
config:
  origin: {default_master: [192.0.2.10, 192.0.2.11], origin_mode: https}
  origin_host: {host: origin.example.com}
`

const profile = `profile: baseline
config:
  https: {cert_id: 1001, http2: on, force_https: 301}
  compress_response:
    content_type: [text/html, text/css, application/javascript]
    min_size: 1
    min_size_unit: KB
`
