import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Finds the errors of workflows and actions with the code host's own parser, in a process. */
export function findParserErrors(files: string[]): string[][] {
  const script = fileURLToPath(new URL('check-workflows.ts', import.meta.url))
  const parser = `${root}node_modules/@actions/workflow-parser`
  const out = execFileSync(process.execPath, ['--import', 'tsx', script, parser, ...files], {
    cwd: root,
    encoding: 'utf8',
  })
  return JSON.parse(out) as string[][]
}
