import { createAnchor, formatCode, formatPage, formatProse } from './markdown.ts'
import { describeType, formatKeys, type Schema } from './schema-keys.ts'

const style = { marks: 'optional', paths: false } as const

/** Builds the page of the JSON that commands print, from the schemas by their file names. */
export function buildJsonPage(schemas: ReadonlyMap<string, Schema>): string {
  const definitions = new Map(
    [...schemas.values()].flatMap((schema) => Object.entries(schema.$defs ?? {})),
  )
  const titles = [...schemas.values()].map(({ title = '' }) => spaceWords(title))
  return formatPage(
    'JSON output',
    '`schemas/output`',
    formatProse(
      'With `--json` a command prints one line of JSON on stdout; `apply`, `rollback` and ' +
        '`drift --repair` print one line for each event. Each format has a JSON Schema in ' +
        '[`schemas/output`](../../schemas/output). Programs must ignore keys that they do not ' +
        'know: a version of a format may get more. `explain --json` prints the JSON Schema of ' +
        'an item.',
    ),
    [...titles, 'Shared parts'].map((title) => `- [${title}](#${createAnchor(title)})`).join('\n'),
    ...[...schemas].flatMap(([file, schema]) => formatSchema(file, schema)),
    '## Shared parts',
    ...[...definitions].flatMap(([name, definition]) => [
      `### ${name}`,
      formatProse(definition.description ?? ''),
      ...formatChoices(definition),
    ]),
  )
}

function formatSchema(file: string, schema: Schema): string[] {
  const events = schema.type === undefined ? (schema.oneOf ?? []) : []
  return [
    `## ${spaceWords(schema.title ?? '')}`,
    formatProse(
      `${schema.description ?? ''} Schema: [${formatCode(file)}](../../schemas/output/${file}).`,
    ),
    ...(events.length === 0 ? formatChoices(schema) : formatEvents(events)),
  ]
}

/** Lists the events, each with its keys; those that all events have are described once. */
function formatEvents(events: Schema[]): string[] {
  return [
    formatProse('Every event has `type` and `time`, the time of the event in ISO 8601.'),
    ...events.flatMap((event) => {
      const { type, time: _time, ...properties } = event.properties ?? {}
      const keys = formatKeys({ ...event, properties }, style)
      return [
        `### ${String(type?.const ?? type?.enum?.join(', ') ?? '')}`,
        formatProse(event.description ?? ''),
        ...(keys.length === 0 ? [] : [keys.join('\n')]),
      ]
    }),
  ]
}

/** Lists the keys of a schema, or of its alternatives. */
function formatChoices(schema: Schema): string[] {
  const keys = formatKeys(schema, style)
  if (schema.type === 'array') return [formatProse(`A ${describeType(schema)}.`)]
  const choices = (schema.oneOf ?? []).flatMap((choice) => [
    formatProse(choice.description ?? ''),
    formatKeys(choice, style).join('\n'),
  ])
  return [...(keys.length === 0 ? [] : [keys.join('\n')]), ...choices].filter((part) => part !== '')
}

/** Splits a title such as `ApplyEvent` into words. */
function spaceWords(title: string): string {
  return title.replaceAll(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
}
