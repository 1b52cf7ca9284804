import { examplePolicy, listPolicyVariables } from '../../src/cli/explain/explain-policy.ts'
import { functions } from '../../src/core/policy/functions.ts'
import { formatBlock, formatPage, formatProse } from './markdown.ts'
import { formatKeys, type Schema } from './schema-keys.ts'

/** Builds the page of the files of policies from their schema and the table of variables. */
export function buildPoliciesPage(schema: Schema): string {
  return formatPage(
    'Policies',
    formatProse(
      'A file of policies has one document for each policy. The key `policies` of ' +
        '[edgewise.yaml](workspace-file.md#policies) has the globs of these files. ' +
        '[Policies](../guides/policies.md) explains how they are used.',
    ),
    '## Example',
    formatBlock('yaml', examplePolicy),
    '## Keys',
    formatKeys(schema, { paths: true }).join('\n'),
    '## Functions',
    formatProse('Expressions are in CEL. Of its functions, these are used most:'),
    Object.entries(functions)
      .map(([name, [description, example]]) =>
        formatProse(`${description} \`${example}\``, `- \`${name}\`: `, '  '),
      )
      .join('\n'),
    '## Variables',
    listPolicyVariables()
      .flatMap(({ name, on, description, fields }) => [
        formatProse(`(on: ${on.join(', ')}). ${description}`, `- \`${name}\` `, '  '),
        ...fields.map(({ name: field, type, description: text }) =>
          formatProse(`(${type}). ${text}`, `  - \`${name}.${field}\` `, '    '),
        ),
      ])
      .join('\n'),
  )
}
