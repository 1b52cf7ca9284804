import type { Configured, Policed } from '../../../operations/runtime/parts.ts'
import { join } from 'node:path'
import { EdgewiseError, throwDefect } from '../../../core/model/edgewise-error.ts'
import type { Json } from '../../../core/model/json.ts'

import { exists } from '../../../files/look.ts'
import { isDeclaring } from '../../../manifest/manifests/forgotten-files.ts'
import { createSourceLineLookup } from '../../../manifest/yaml/source-line.ts'
import type { SourceFile } from '../../../manifest/yaml/yaml-file.ts'
import { plan } from '../../../operations/plan.ts'
import { judgeWorkspace } from '../../../operations/validate.ts'
import { buildDiagnosticsJson, buildErrorJson } from '../../../outlets/report/diagnostics/json.ts'
import { buildPlanJson } from '../../../outlets/report/plan/json.ts'
import { formatUnifiedDiff } from '../../../outlets/report/text/unified-diff.ts'
import { refuseUnplannable, type Call } from '../session.ts'
import { refuseHostileJson } from './observe.ts'
import { declareTool, nameSchema } from './tool.ts'
import { isCollection, isMap } from 'yaml'
import { formatYaml } from '../../../manifest/yaml/format-yaml.ts'
import { parseText } from '../../../manifest/yaml/yaml-text.ts'

interface ProposeArguments {
  file?: string
  text?: string
  edits?: ManifestEdit[]
}

/** Maximum size of a proposed file, characters and lines: comparing longer ones takes too long. */
const [maxCharacters, maxLines] = [500_000, 10_000]

/** A file with its text now, null for a new one, and the proposed text. */
interface ProposedFile {
  path: string
  before: string | null
  after: string
}

export const proposeTool = declareTool<ProposeArguments>({
  name: 'propose',
  title: 'Propose a change of manifests',
  description:
    'Compute a change without writing it: answers a patch as text for a person to look at and ' +
    'apply ("git apply"), the problems of the result, and the plan that follows. Pass file and ' +
    'text (the whole new text of a manifest or a profile), or edits of items of domains.',
  properties: {
    file: {
      type: 'string',
      minLength: 1,
      maxLength: 300,
      description: 'A manifest or profile, also a new one, relative to the workspace.',
    },
    text: { type: 'string', maxLength: maxCharacters, description: 'Its whole new text.' },
    edits: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      description: 'Items to set in the manifests of domains; null takes an item out.',
      items: {
        type: 'object',
        properties: { domain: nameSchema, item: nameSchema, value: {} },
        required: ['domain', 'item', 'value'],
        additionalProperties: false,
      },
    },
  },
  run: async (call, change) => {
    const files = readChange(call.load().workspace, change)
    const changed = files.map(({ path, after }) => ({ path, text: after }))
    const { workspace, outside } = call.load(changed)
    const { diagnostics } = await judgeWorkspace(workspace, {}, outside)
    const { valid, diagnostics: listed } = buildDiagnosticsJson(diagnostics)
    const patches = files.map(formatPatch)
    return {
      answer: {
        format: 'edgewise.proposal/1',
        files: files.map(({ path, before }) => ({ path, isNew: before === null })),
        patch: patches.map(({ text }) => text).join(''),
        masked: patches.some(({ masked }) => masked),
        valid,
        diagnostics: listed,
        ...(valid ? await planChange(call, changed) : { plan: null }),
      },
    }
  },
})

/** @throws EdgewiseError `usage` for a change that can't be proposed */
function readChange(workspace: Policed, { file, text, edits }: ProposeArguments): ProposedFile[] {
  if (edits !== undefined && file === undefined && text === undefined) {
    refuseHostileJson(edits as unknown as Json)
    return editManifests(workspace, edits).filter(({ before, after }) => before !== after)
  }
  if (edits !== undefined || file === undefined || text === undefined)
    throw new EdgewiseError('usage', 'expected either "file" and "text", or "edits"')
  if (text.split('\n').length > maxLines)
    throw new EdgewiseError('usage', `expected at most ${maxLines} lines, got more`)
  refuseOtherFile(workspace, file)
  const before = workspace.findSource(file)
  if (before === null && exists(join(workspace.root, file)))
    throw new EdgewiseError('usage', `${file} exists and can't be loaded; see validate`)
  if (before !== null && (before.length > maxCharacters || before.split('\n').length > maxLines))
    throw new EdgewiseError('usage', `${file} is too long for a proposal`, 'Split the file.')
  const after = text.endsWith('\n') ? text : `${text}\n`
  return before === after ? [] : [{ path: file, before, after }]
}

/** Refuses what is no manifest or profile, `edgewise.yaml` too: it decides where the token goes. */
function refuseOtherFile({ config }: Configured, file: string): void {
  const { manifests, profiles } = config
  const isPath = /^[\w@+-][\w.@+-]*(?:\/[\w@+-][\w.@+-]*)*\.ya?ml$/.test(file)
  if (isPath && isDeclaring(file, config)) return
  throw new EdgewiseError(
    'usage',
    'expected "file" to be a manifest or a profile, by the globs of edgewise.yaml',
    `Manifests match ${manifests.join(', ')}, profiles ${profiles.join(', ')}. A person changes ` +
      'edgewise.yaml, policies and tests.',
  )
}

/** Formats a patch; secrets in its lines are masked, and it can't be applied then. */
function formatPatch({ path, before, after }: ProposedFile): { text: string; masked: boolean } {
  let masked = false
  const texts = { before: before ?? '', after }
  const find = {
    before: createSourceLineLookup(() => [{ path, text: texts.before }]),
    after: createSourceLineLookup(() => [{ path, text: after }]),
  }
  const lines = { before: texts.before.split('\n'), after: after.split('\n') }
  const isCutOff = !/^$|\n$/.test(texts.before)
  const show = (side: 'before' | 'after', line: number) => {
    const place = { file: path, line, column: 1, endLine: line, endColumn: 1 }
    const own = lines[side][line - 1] ?? ''
    const shown = (find[side](place) ?? '') + (own.endsWith('\r') ? '\r' : '')
    masked ||= shown !== own
    const isLast = side === 'before' && isCutOff && line === lines.before.length
    return isLast ? `${shown}\n\\ No newline at end of file` : shown
  }
  // A line end that is missing differs from one that is there.
  const compared = isCutOff ? `${texts.before}\0` : texts.before
  if (texts.before !== '') return { text: formatUnifiedDiff(path, compared, after, show), masked }
  const count = lines.after.length - 1
  const added = Array.from({ length: count }, (_, i) => `+${show('after', i + 1)}`)
  const head = `--- ${before === null ? '/dev/null' : `a/${path}`}\n+++ b/${path}`
  return { text: `${[head, `@@ -0,0 +1,${count} @@`, ...added].join('\n')}\n`, masked }
}

/** Plans a change; an error of the plan is a part of the answer. */
async function planChange(call: Call, changed: SourceFile[]) {
  try {
    const { workspace, outside } = call.connect(changed)
    await refuseUnplannable(workspace)
    const planned = await plan(workspace, {}, { outside })
    const { itemKeys } = workspace.config.service
    const built = buildPlanJson(planned.plan, (key) => itemKeys[key] ?? key, planned)
    const { summary, changes, warnings } = built
    return { plan: { summary, changes, warnings } }
  } catch (error) {
    throwDefect(error)
    return { plan: null, planError: buildErrorJson(error) }
  }
}

/** An item of a domain with a new value; null takes it out of the manifest. */
interface ManifestEdit {
  domain: string
  item: string
  value: Json
}

interface EditedFile {
  path: string
  before: string
  after: string
}

/**
 * Edits the manifests of domains in memory. A file in the canonical layout keeps it.
 *
 * @throws EdgewiseError `usage` for a domain that no manifest declares alone
 */
function editManifests(
  { findDomainPlace, findSource }: Policed,
  edits: ManifestEdit[],
): EditedFile[] {
  const files = new Map<string, EditedFile>()
  for (const { domain, item, value } of edits) {
    const place = findDomainPlace(domain.toLowerCase())
    const before = place === null ? null : findSource(place.file)
    if (place === null || before === null)
      throw new EdgewiseError(
        'usage',
        `no manifest declares "${domain}"`,
        'Pass "file" and "text" of a new manifest.',
      )
    const path = place.file
    const file = files.get(path) ?? { path, before, after: before }
    const edited = editDocument(file.after, place.document, item, value)
    if (edited === null)
      throw new EdgewiseError(
        'usage',
        `the manifest of "${domain}" in ${path} has several domains, or no plain "config"`,
        'Pass "file" and its whole new "text".',
      )
    files.set(path, { ...file, after: edited })
  }
  return [...files.values()].map((file) => ({ ...file, after: keepLayout(file) }))
}

/** Sets an item of one document; null if that is not possible. */
function editDocument(text: string, index: number, item: string, value: Json): string | null {
  const documents = parseText(text)
  const document = documents[index]
  const isPlain =
    document !== undefined &&
    document.errors.length === 0 &&
    typeof document.get('domain') === 'string' &&
    isMap(document.get('config'))
  if (!isPlain) return null
  if (value === null) document.deleteIn(['config', item])
  else {
    const former = document.getIn(['config', item], true)
    const flow = isCollection(former) ? former.flow === true : isShort(value)
    document.setIn(['config', item], document.createNode(value, { flow }))
  }
  const layout = { lineWidth: 0, flowCollectionPadding: false }
  const edited = documents.map((each) => each.toString(layout)).join('')
  return /^.*\r\n/.test(text) ? edited.replaceAll(/\r?\n/g, '\r\n') : edited
}

/** Tests whether a value fits into a line in flow style, beside its item. */
function isShort(value: Json): boolean {
  return JSON.stringify(value).length <= 60
}

/** Formats the new text as `edgewise fmt` does, if the text before was formatted so. */
function keepLayout({ path, before, after }: EditedFile): string {
  const format = (text: string) => {
    const formatted = formatYaml({ path, text })
    return 'text' in formatted ? formatted.text : null
  }
  return format(before) === before ? (format(after) ?? after) : after
}
