import {
  CompletionItemKind,
  InsertTextFormat,
  type CompletionItem,
  type Range,
} from 'vscode-languageserver/node'
import type { ItemSchema } from '../../core/catalog/value/item-schema.ts'
import { append } from '../../core/model/lists.ts'
import { listFacts } from '../../outlets/report/catalog/describe-item.ts'
import { findTyping } from './cursor.ts'
import { findSchemaAt, listKeys } from './schema-at.ts'

/** The names that a workspace has. */
export interface Names {
  profiles: Iterable<string>
  variables: Iterable<string>
  secrets: Iterable<string>
}

/** A text, and the place where somebody types. */
export interface Typist {
  /** Path of the file, relative to the root of the workspace. */
  path: string
  before: string
  line: number
  character: number
}

/** Lists what may stand where somebody types: keys, values, profiles, variables, secrets. */
export function complete({ path, before, line, character }: Typist, names: Names) {
  const { steps, kind, typed } = findTyping(before)
  const range = (length: number): Range => ({
    start: { line, character: character - length },
    end: { line, character },
  })
  const reference = /\$\{[^{}]*$/.exec(typed)?.[0]
  if (reference !== undefined)
    return listReferences(names).map((each) => build(each, range(reference.length)))
  const schema = findSchemaAt(path, steps)
  const isEntry = steps.at(-1) === '*'
  const quote = /^["']/.exec(typed)?.[0] ?? ''
  const place = range(typed.length - quote.length)
  const found: Candidate[] = []
  if (kind === 'key' && schema !== null) append(found, listFields(schema))
  if (kind === 'value' || isEntry) {
    const isProfile = steps[0] === 'profiles' && (isEntry || steps.length === 1)
    if (isProfile) append(found, listNames(names.profiles))
    else if (schema !== null) append(found, listValues(schema))
  }
  return found.map((each) => build(each, place))
}

interface Candidate {
  label: string
  kind: CompletionItemKind
  insert?: string
  detail?: string
  documentation?: string | undefined
}

function build(
  { label, kind, insert = label, detail, documentation }: Candidate,
  range: Range,
): CompletionItem {
  return {
    label,
    kind,
    insertTextFormat: InsertTextFormat.PlainText,
    filterText: insert,
    textEdit: { range, newText: insert },
    detail,
    documentation: documentation && { kind: 'markdown', value: documentation },
  }
}

function listFields(schema: ItemSchema): Candidate[] {
  return listKeys(schema).map(([name, field, required]) => ({
    label: name,
    kind: CompletionItemKind.Property,
    insert: `${name}: `,
    detail: listFacts(field, required).join('; '),
    documentation: field.description,
  }))
}

function listValues(schema: ItemSchema): Candidate[] {
  const holders = schema.oneOf === undefined ? [schema] : [schema, ...schema.oneOf]
  return holders.flatMap(({ enum: values, type }) =>
    (values ?? (type === 'boolean' ? [true, false] : [])).map((value) => ({
      label: String(value),
      kind: CompletionItemKind.EnumMember,
    })),
  )
}

function listNames(names: Iterable<string>): Candidate[] {
  return [...new Set(names)].map((label) => ({ label, kind: CompletionItemKind.Reference }))
}

function listReferences({ variables, secrets }: Names): Candidate[] {
  return [
    { label: '${domain}', kind: CompletionItemKind.Constant },
    ...[...new Set(variables)].map((name) => ({
      label: `\${var:${name}}`,
      kind: CompletionItemKind.Variable,
    })),
    ...[...new Set(secrets)].map((name) => ({
      label: `\${secret:${name}}`,
      kind: CompletionItemKind.Variable,
      detail: 'secret',
    })),
  ]
}
