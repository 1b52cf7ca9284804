import { symbols } from '../src/core/model/change.ts'

type Schema = Record<string, unknown>

/** Facts of a request, with what editors show. */
const facts: Record<string, Schema> = {
  url: { type: 'string', minLength: 1, description: 'URL of the request.' },
  method: { type: 'string', description: 'Method, such as GET.' },
  headers: {
    type: 'object',
    description: 'Headers by name; null is absent, "*": null all others.',
  },
  ip: { type: 'string', description: 'Address of the client.' },
  country: { type: 'string', description: 'Country of the client, as the service names it.' },
  isp: { type: 'string', description: 'Carrier of the client: dx, lt, yd or other.' },
  at: { description: 'Date and time with a zone, or Unix seconds.' },
  time: { type: 'string', description: 'Time of day by the clock of the service, such as 18:00.' },
  bodySize: { type: 'integer', description: 'Size of the uploaded body, bytes.' },
  signature: { type: 'string', description: 'Whether the signature is valid or invalid.' },
  secrets: { type: 'object', description: 'Texts that stand in for secrets, by name.' },
  origin: { type: 'object', description: 'Answer of the origin: status, headers, size.' },
  count: { type: 'integer', description: 'As in files of requests; it has no meaning here.' },
}

const closed = (properties: Record<string, Schema>, description: string, required?: string[]) => ({
  type: 'object',
  additionalProperties: false,
  ...(required === undefined ? {} : { required }),
  description,
  properties,
})
const list = (items: Schema, description: string): Schema => ({
  type: 'array',
  minItems: 1,
  description,
  items,
})
const writes = { type: 'integer', minimum: 0, description: 'Number of writes.' }

/**
 * Builds the schema of a test of manifests.
 *
 * @param manifest schema of manifests, from which configurations come; null for any
 * @param answers names of answers, for completion
 */
export function buildTestSchema(manifest: Schema | null, answers: readonly string[] = []): Schema {
  const { profiles, vars, config } = (manifest?.['properties'] ?? {}) as Record<string, Schema>
  const mapping = (description: string) => ({ type: 'object', description })
  const expect = {
    type: 'object',
    minProperties: 1,
    description: 'Expected answers by name, or {unknown: true}, {either: [VALUE, …]}.',
    properties: Object.fromEntries(answers.map((name) => [name, {}])),
  }
  const refusal = {
    text: { type: 'string', description: 'Part of the message.' },
    code: { type: 'integer', description: 'Code of the answer.' },
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Edgewise test',
    ...closed(
      {
        test: { type: 'string', minLength: 1, description: 'Name of the test.' },
        domains: list({ type: 'string', minLength: 1 }, 'Globs of the tested domains.'),
        given: closed(
          {
            profiles: profiles ?? { type: 'array', items: { type: 'string' } },
            vars: vars ?? mapping('Variables.'),
            config: config ?? mapping('Items and their values.'),
          },
          'A configuration of its own, in place of domains.',
        ),
        assume: mapping('Answers of readings; {unmanaged: absent}: other items are not set.'),
        items: {
          ...mapping('Expected values by ITEM/FIELD; null: not set.'),
          minProperties: 1,
          examples: [{ 'https/force_https': 301 }],
        },
        requests: list(
          closed({ ...facts, expect }, 'A request, and its answers.', ['url']),
          'Requests to trace.',
        ),
        plan: closed(
          {
            from: config ?? mapping('Recorded values; other items are as in the manifests.'),
            writes: {
              oneOf: [writes, closed({ min: writes, max: writes }, 'Limits, both inclusive.')],
              description: 'Number of writes, or its limits.',
            },
            actions: {
              type: 'array',
              description: 'All actions of the changes.',
              items: { type: 'string', enum: Object.keys(symbols) },
            },
          },
          'What a plan from recorded values has.',
        ),
        emulator: {
          oneOf: [
            { type: 'string', enum: ['accepts', 'refuses'] },
            closed({ refuses: closed(refusal, 'The refusal.') }, 'A refusal.', ['refuses']),
          ],
          description: 'Whether the emulator accepts the whole configuration.',
        },
        expect: closed(
          {
            violates: {
              type: 'array',
              description: 'Names of all policies that are violated; [] for none.',
              items: { type: 'string' },
              examples: [['no-plain-origin']],
            },
          },
          'What policies find.',
          ['violates'],
        ),
      },
      'A test of manifests.',
      ['test'],
    ),
  }
}
