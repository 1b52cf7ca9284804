/** Builds the pages of `docs/reference` that are generated, from the program and its schemas. */
import { readdirSync, readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { Io } from '../../src/cli/io.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { addLiveLine } from '../../src/cli/terminal/live-line.ts'
import { buildCommandsPage } from './commands-page.ts'
import { buildItemsPages } from './items-pages.ts'
import { buildJsonPage } from './json-page.ts'
import type { Schema } from './schema-keys.ts'
import { fillManifestsPage } from './manifests-page.ts'
import { buildPoliciesPage } from './policies-page.ts'
import { buildWorkspacePage } from './workspace-page.ts'

const root = new URL('../../', import.meta.url)

/** Themes of the items: the files of `examples/every-item/domains`, with their titles. */
const themeTitles: Record<string, string> = {
  origin: 'Origin',
  caching: 'Caching',
  https: 'HTTPS',
  access: 'Access',
  headers: 'Headers',
  content: 'Content',
  limits: 'Limits',
  extension: 'Extension',
}

/** Builds the pages by path. `manifest` and `profile` are the generated schemas. */
export function buildReferencePages(manifest: Schema, profile: Schema): Record<string, string> {
  const manifests = 'docs/reference/manifests.md'
  return {
    'docs/reference/commands.md': buildCommandsPage(createProgram()),
    ...buildItemsPages(catalogue, loadThemes(), loadSections()),
    'docs/reference/workspace-file.md': buildWorkspacePage(
      JSON.parse(load('schemas/workspace.schema.json')) as Schema,
    ),
    'docs/reference/policies.md': buildPoliciesPage(
      JSON.parse(load('schemas/policy.schema.json')) as Schema,
    ),
    [manifests]: fillManifestsPage(load(manifests), { manifest, profile }),
    'docs/reference/json.md': buildJsonPage(loadOutputSchemas()),
  }
}

/** Creates the program for its declarations; its commands don't run. */
function createProgram() {
  const io = { out: () => undefined, err: () => undefined, columns: 80 } as unknown as Io
  return buildProgram(io, addLiveLine(io).live, () => undefined)
}

function loadThemes(): Map<string, string[]> {
  return new Map(
    Object.entries(themeTitles).map(([theme, title]) => [
      title,
      parseAllDocuments(load(`examples/every-item/domains/${theme}.yaml`)).flatMap((document) =>
        Object.keys((document.toJS() as { config?: object }).config ?? {}),
      ),
    ]),
  )
}

/** Loads the sections of the specification in which the rules of each item stand. */
function loadSections(): Map<string, string[]> {
  const rules = JSON.parse(load('test/conformance/rules.json')) as {
    item: string | null
    section: string
  }[]
  const sections = new Map<string, string[]>()
  for (const { item, section } of rules) {
    if (item === null) continue
    const known = sections.get(item) ?? []
    if (!known.includes(section)) sections.set(item, [...known, section])
  }
  return sections
}

function loadOutputSchemas(): Map<string, Schema> {
  return new Map(
    readdirSync(new URL('schemas/output/', root))
      .toSorted()
      .map((file) => [file, JSON.parse(load(`schemas/output/${file}`)) as Schema]),
  )
}

function load(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}
