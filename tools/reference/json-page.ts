import { formatBlock, formatCode, formatPage, formatProse } from './markdown.ts'
import type { Schema } from './schema-keys.ts'

const folder = '../../schemas/output'

/** Builds the index of the JSON that commands print, from the schemas by their file names. */
export function buildJsonPage(schemas: ReadonlyMap<string, Schema>): string {
  const formats = [...schemas].map(([file, schema]) => {
    const link = `[${formatCode(getFormat(schema) ?? getName(file))}](${folder}/${file})`
    const text = (schema.description ?? '').replace(/^Output of /, '')
    return formatProse(`${link}: ${text}`, '- ', '  ')
  })
  const events = schemas.get('apply-event.schema.json')?.oneOf ?? []
  return formatPage(
    'JSON output',
    formatProse(
      'With `--json` a command prints one line of JSON on stdout; `apply`, `rollback` and ' +
        '`drift --repair` print one for each event. The schemas (JSON Schema 2020-12) have every ' +
        'key with its meaning. Programs must ignore keys that they do not know: a version of a ' +
        'format may get more. `explain --json` prints the JSON Schema of an item.',
    ),
    formats.join('\n'),
    '## Events of an apply',
    formatProse(
      'Every event has `type` and `time` (ISO 8601). ' +
        `Their keys: [apply-event](${folder}/apply-event.schema.json).`,
    ),
    events
      .map(({ properties, description = '' }) =>
        formatProse(description, `- ${formatCode(String(properties?.['type']?.const))}: `, '  '),
      )
      .join('\n'),
    '## Examples',
    ...[...schemas].flatMap(([file, { examples = [] }]) =>
      examples.length === 0
        ? []
        : [
            `Of ${formatCode(getName(file))}:`,
            formatBlock('json', examples.map((example) => JSON.stringify(example)).join('\n')),
          ],
    ),
  )
}

function getName(file: string): string {
  return file.replace('.schema.json', '')
}

/** Returns the value of `format` in the output; null for lines of events. */
function getFormat({ properties }: Schema): string | null {
  const format = properties?.['format']?.const
  return typeof format === 'string' ? format : null
}
