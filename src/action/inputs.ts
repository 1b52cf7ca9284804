/** Environment variables of a process. */
export type Env = Record<string, string | undefined>

/** Inputs of the action, as `action.yml` declares them; empty if they are not given. */
export interface Inputs {
  command: string
  args: string
  workspace: string
  plan: string
  observed: string
  report: string
  html: string
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
    html: read('html'),
    pageUrl: read('page-url').trim(),
    differs: read('differs').trim(),
    pullRequest: read('pull-request').trim(),
    codeHostToken: read('code-host-token').trim(),
    author: read('author').trim(),
  }
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
