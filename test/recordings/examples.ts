import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  buildManifests,
  buildWorkspaceFile,
  diffFiles,
  serviceUrl,
  type Files,
  type RecordedWorkspace,
} from './workspace.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))

/** Edits of the storefront: a list, an expiry, a rule that goes, an item that is removed. */
const storefrontEdits: [path: string, from: RegExp, to: string][] = [
  ['profiles/baseline.yaml', /203\.0\.113\.77\]/, '203.0.113.77, 203.0.113.80]'],
  ['profiles/baseline.yaml', /=31536000/, '=63072000'],
  ['profiles/web.yaml', /expire: 5$/m, 'expire: 10'],
  ['profiles/video.yaml', / *speed_limit:.*\n.*\n/, ''],
  ['domains/web/asia.yaml', /_timeout: 20/, '_timeout: 30'],
  ['domains/web/mobile.yaml', /$/, '  ip_black_list: null\n'],
]

/** Builds the workspaces of `examples`, and what `init` writes: all commands run in them. */
export function buildExamples(): RecordedWorkspace[] {
  const storefront = loadFolder('storefront')
  const edited = { ...storefront }
  for (const [path, from, to] of storefrontEdits)
    edited[path] = (edited[path] ?? '').replace(from, to)
  const edits = diffFiles(storefront, edited)
  const policies = Object.fromEntries(
    Object.entries(loadFolder('policies')).map(([path, text]) => [`policies/${path}`, text]),
  )
  const everyItem = loadFolder('every-item')
  const build = (name: string, files: Files, changes: Files, domain: string) =>
    ({ name, files, edits: changes, domain, commands: 'all' }) satisfies RecordedWorkspace
  const oneItemLess = Object.fromEntries(
    Object.entries(everyItem).map(([path, text]) => [
      path,
      text?.replace(/^ {2}timeout:.*\n/m, ''),
    ]),
  ) as Files
  return [
    build('storefront', storefront, edits, 'www.example.com'),
    build('storefront with policies', { ...storefront, ...policies }, edits, 'www.example.com'),
    build('every item', everyItem, diffFiles(everyItem, oneItemLess), 'origin.example.com'),
    build('serve', loadFolder('serve/workspace'), {}, 'www.example.com'),
    build('nothing', { 'edgewise.yaml': buildWorkspaceFile() }, {}, 'www.example.com'),
    {
      ...build('no workspace', { 'edgewise.yaml': null }, {}, 'www.example.com'),
      commands: 'none',
    },
    build(
      'one domain',
      {
        'edgewise.yaml': buildWorkspaceFile(),
        ...buildManifests([['www.example.com', { timeout: { time: 60 } }]]),
      },
      buildManifests([
        ['www.example.com', { timeout: { time: 30 }, origin_host: { host: 'o.example.net' } }],
      ]),
      'www.example.com',
    ),
  ]
}

/** Loads the files of an example; its service is that of the recordings, its state a folder. */
function loadFolder(name: string): Files {
  const root = join(examples, name)
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()
  return Object.fromEntries(
    paths
      .filter((path) => /\.ya?ml$/.test(path) && statSync(join(root, path)).isFile())
      .map((path) => [path, adaptFile(readFileSync(join(root, path), 'utf8'))]),
  )
}

function adaptFile(text: string): string {
  return text
    .replace(/^ {2}url: (?:emulator|http:.*)$/m, `  url: ${serviceUrl}`)
    .replace(/^ {2}store: postgres\n {2}url:.*$/m, '  store: dir')
}
