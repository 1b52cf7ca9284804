import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const server = fileURLToPath(new URL('../../src/server', import.meta.url))

/**
 * What the server itself uses of a checkout or of files, and why. All else of a commit comes from
 * the process that checks it, with limits, or is loaded by `loadCommit` once that has loaded it.
 */
const allowed: Record<string, string> = {
  'branch/branch.ts node:fs': 'folders of the clone',
  'branch/branch.ts node:fs/promises': 'folders of the clone',
  'branch/clone.ts node:fs': 'folders of the clone',
  'branch/clone.ts node:fs/promises': 'folders of the clone',
  'branch/process-folder.ts node:fs/promises': 'its own file',
  'branch/find-workspace.ts files/is-inside.ts': 'paths, no contents',
  'branch/find-workspace.ts files/look.ts': 'paths, no contents',
  'branch/find-workspace.ts manifest/workspace-file/find-root.ts': 'paths, no contents',
  'branch/workspaces.ts operations/runtime/load-workspace.ts': 'after the check: loadCommit',
  'branch/workspaces.ts operations/observation/observe.ts': 'after the check, which loads it too',
  'pages/domain-routes.ts operations/show.ts': 'compares names',
  'people/people.ts manifest/workspace-file/people-rules.ts': 'parses a text of the configuration',
}

/** What reads, wherever it is imported from. */
const reading = new RegExp(
  '^(?:node:fs|files/|manifest/|operations/(?:runtime/load-workspace|observation/observe\\.|' +
    'people/(?:owners|command-line)|show|fleet|test|validate))',
)

function listReads(): string[] {
  const paths = readdirSync(server, { recursive: true, encoding: 'utf8' })
  return paths
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) =>
      listImports(readFileSync(`${server}/${path}`, 'utf8'))
        .filter((from) => reading.test(from))
        .map((from) => `${path} ${from}`),
    )
    .toSorted()
}

/** Lists what a source imports that runs, from the top of the sources. */
function listImports(source: string): string[] {
  const imports = source.matchAll(/^(?:import|export) (?!type )(?:[^']*? from )?'([^']+)'/gm)
  const later = source.matchAll(/\bimport\('([^']+)'\)/g)
  return [...imports, ...later].map(([, from = '']) => from.replace(/^(?:\.\.?\/)+/, ''))
}

it('the server reads nothing of a commit that its check has not loaded', () => {
  expect(listReads()).toEqual(Object.keys(allowed).toSorted())
})

it('the search finds what is imported in any form', () => {
  const source =
    "import { a } from '../../files/x.ts'\nimport type { b } from '../files/y.ts'\n" +
    "import {\n  c,\n} from '../../manifest/z.ts'\nawait import('../../operations/show.ts')\n"
  expect(listImports(source)).toEqual(['files/x.ts', 'manifest/z.ts', 'operations/show.ts'])
})
