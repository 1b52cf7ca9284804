/** Environment variables of a process. */
export type Env = Record<string, string | undefined>

/** Inputs of the action, as `action.yml` declares them; empty if they are not given. */
export interface Inputs {
  command: string
  args: string
  workspace: string
  plan: string
  observed: string
  /** Files, one a line. */
  report: string
  pageUrl: string
  differs: string
  pullRequest: string
  codeHostToken: string
  author: string
}

/** Reads the inputs, which a runner passes as variables such as `INPUT_PULL-REQUEST`. */
export function readInputs(env: Env): Inputs {
  const read = (name: string) => env[`INPUT_${name.toUpperCase()}`] ?? ''
  return {
    command: read('command').trim(),
    args: read('args'),
    workspace: read('workspace'),
    plan: read('plan'),
    observed: read('observed'),
    report: read('report'),
    pageUrl: read('page-url').trim(),
    differs: read('differs').trim(),
    pullRequest: read('pull-request').trim(),
    codeHostToken: read('code-host-token').trim(),
    author: read('author').trim(),
  }
}

/** Lists the files of the reports. */
export function listReports({ report }: Inputs): string[] {
  return report
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Finds the report that is published: the first Markdown file; null without one. */
export function findMarkdown(inputs: Inputs): string | null {
  return listReports(inputs).find((file) => file.endsWith('.md')) ?? null
}

/**
 * Returns the value of a variable that every runner sets.
 *
 * @throws Error if it is missing
 */
export function requireVariable(env: Env, name: string): string {
  const value = env[name]
  if (value === undefined || value === '') throw new Error(`expected ${name} to be set`)
  return value
}
