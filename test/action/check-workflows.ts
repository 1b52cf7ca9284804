/**
 * Prints the errors of the code host's own parser for workflows and actions, as JSON:
 * `check-workflows.ts PARSER FILE…`.
 */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'

interface Parsed {
  context: { errors: { getErrors(): { message: string }[] } }
}
type Parse = (file: { name: string; content: string }, trace: object) => Parsed

const [parser = '', ...files] = process.argv.slice(2)
const load = async (path: string) =>
  (await import(pathToFileURL(join(parser, 'dist', path)).href)) as Record<string, unknown>
const { parseWorkflow, NoOperationTraceWriter } = await load('index.js')
const { parseAction } = await load('actions/action-parser.js')
const errors = files.map((name) => {
  const parse = (basename(name) === 'action.yml' ? parseAction : parseWorkflow) as Parse
  const trace = new (NoOperationTraceWriter as new () => object)()
  return parse({ name, content: readFileSync(name, 'utf8') }, trace)
    .context.errors.getErrors()
    .map(({ message }) => message)
})
console.log(JSON.stringify(errors))
