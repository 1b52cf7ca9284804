import type { Json } from '../../../core/model/json.ts'
import type { Call } from '../session.ts'

/** JSON Schema of an argument. */
export type ArgumentSchema = { [key: string]: Json }

/** What a tool answers. */
export interface ToolAnswer {
  /** The JSON that the command of the same name prints with `--json`. */
  answer: unknown
  /** What the command prints beside it. */
  notes?: string[]
}

/** A tool for agents, which only reads. */
export interface Tool {
  name: string
  title: string
  description: string
  /** Arguments by name; there are no others. */
  properties: Record<string, ArgumentSchema>
  required: string[]
  /** Whether it calls the service, with GET requests and the token of who started the server. */
  calls: boolean
  run(call: Call, args: Record<string, unknown>): Promise<ToolAnswer>
}

/** Declares a tool; its arguments are checked by the schemas before it runs. */
export function declareTool<Args extends object>(
  tool: Omit<Tool, 'run' | 'required' | 'calls'> & {
    required?: (keyof Args & string)[]
    calls?: boolean
    run(call: Call, args: Args): Promise<ToolAnswer>
  },
): Tool {
  const { run, required = [], calls = false, ...others } = tool
  return { ...others, required, calls, run: (call, args) => run(call, args as Args) }
}

/** Schema of a name or a glob. */
export const nameSchema: ArgumentSchema = { type: 'string', minLength: 1, maxLength: 255 }

/** Arguments that select domains and items. */
export const selectionProperties: Record<string, ArgumentSchema> = {
  target: {
    type: 'array',
    maxItems: 100,
    items: nameSchema,
    description: 'Domains or globs such as *.example.com; all by default. "!" takes out.',
  },
  items: {
    type: 'array',
    maxItems: 100,
    items: nameSchema,
    description: 'Names of items; all by default.',
  },
}

/** Values of {@link selectionProperties}. */
export interface SelectionArguments {
  target?: string[]
  items?: string[]
}

/** Arguments about an observed configuration. */
export const observeProperties: Record<string, ArgumentSchema> = {
  observed: {
    type: 'object',
    description:
      'Observed configuration as content, {domain: {item: payload}}; no file, no program.',
  },
  live: {
    type: 'boolean',
    description: 'Read the configuration back from the service (needs service.readBack).',
  },
}

/** Arguments about what the specification does not say. */
export const readingProperties: Record<string, ArgumentSchema> = {
  assume: {
    type: 'object',
    maxProperties: 60,
    description: 'Answers of readings, such as {"R4": "whole"}; see explain with "readings".',
  },
}
