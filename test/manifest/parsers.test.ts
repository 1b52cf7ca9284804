import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const src = fileURLToPath(new URL('../../src', import.meta.url))

/**
 * The files that may call a parser of JSON or YAML, and why. Every other text goes through
 * `parseJson` and `parseYaml`, which have the limits: add to them, not to this table.
 */
const allowed: Record<string, string> = {
  'core/model/json.ts': 'parseJson',
  'manifest/yaml/yaml-text.ts': 'parseText, with the limits of nesting and marks',
  'manifest/yaml/parse-plain-yaml.ts': 'parses events, to a depth; parseYaml calls it',
  'core/model/text/json-scan.ts': 'one string of a text that it scans itself',
  'emulator/store/memory.ts': 'the file of the emulator that it has written',
  'emulator/routes/parse-parameters.ts': 'bodies of 1 MB, then counts the levels',
  'cli/own/own-check.ts': 'a file of a process of its own for the server',
  'cli/package-files.ts': 'the package',
  'cli/action/run-action.ts': 'a report of the program',
  'cli/action/code-host.ts': 'the host of the job; known fields are picked',
  'manifest/manifests/cache/manifest-cache.ts': 'a file of this program, with its hash',
  'operations/runtime/open.ts': 'a value of the caller, which it has written as JSON',
  'operations/observation/earlier-reads.ts': 'a file of the server for a process of its own',
  'server/pages/domain-pages.ts': 'a file of a process of its own for the server',
  'server/pages/sessions.ts': 'a cookie that the server has signed',
  'state/format/chain-entry.ts': 'a copy of a value of this program',
  'server/people/login-routes.ts': 'a cookie that the server has signed',
  'outlets/report/list/outliers.ts': 'a text of this program',
  'outlets/report/page/fit-page.ts': 'a copy of a value of this program',
  'outlets/page/main.ts': 'the page that it stands in',
  'outlets/page/live.ts': 'the answer of the server of its page',
  'outlets/page/effects/main.ts': 'the page that it stands in',
}

/** What parses: calls, and names that are imported of a package. */
const calls = [/\bJSON\s*\.\s*parse\b/, /\bJSON\s*\[/, /\.json\(\)/]
const packages = /import\s+(?!type\b)([^']*?)\s+from\s+'(?:yaml|js-yaml)'/g
/** Names of these packages that read no text. */
const harmless = /^(?:type .*|is[A-Z]\w*|visit|stringify|[A-Z_\d]+|YAMLException|getScalarValue)$/

function listParsing(): string[] {
  const paths = readdirSync(src, { recursive: true, encoding: 'utf8' })
  return paths
    .filter((path) => path.endsWith('.ts') && !path.includes('generated/'))
    .filter((path) => parses(readFileSync(`${src}/${path}`, 'utf8')))
    .toSorted()
}

function parses(source: string): boolean {
  const code = source.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')
  if (calls.some((call) => call.test(code))) return true
  if (/(?:import|require)\(\s*'(?:js-)?yaml'/.test(code)) return true
  return [...code.matchAll(packages)].some(([, names = '']) =>
    names
      .replaceAll(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim())
      .some((name) => name !== '' && !harmless.test(name)),
  )
}

it('foreign texts are parsed by two functions, which have the limits', () => {
  expect(listParsing()).toEqual(Object.keys(allowed).toSorted())
})

it.each([
  "import { parse } from 'yaml'",
  "import * as yaml from 'yaml'",
  "import yaml, { isMap } from 'yaml'",
  "import { isMap,\n  Parser } from 'yaml'",
  "import { load } from 'js-yaml'",
  "await import('yaml')",
  'const a = JSON.parse(text)',
  'const { parse } = JSON; JSON[name]',
  'await (await fetch(url)).json()',
])('the search finds %j', (source) => {
  expect(parses(source)).toBe(true)
  expect(parses(`/* ${source} */ import { type Node, isMap, stringify } from 'yaml'`)).toBe(false)
})
