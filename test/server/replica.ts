import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { findProgram } from '../program.ts'

/** A line of the log of a replica. */
export interface LogLine {
  level: string
  message: string
  [field: string]: unknown
}

/** A process of `edgewise serve`. */
export interface Replica {
  /** Address of its HTTP interface. */
  readonly url: string
  /** Address for probes. */
  readonly healthUrl: string
  readonly log: LogLine[]
  /** All that it printed on stderr. */
  readonly err: string
  readonly process: ChildProcess
  /** Waits for a line of the log; an expression is matched with the message and all fields. */
  waitFor(message: string | RegExp): Promise<LogLine>
  get(path: string, init?: RequestInit): Promise<Response>
  /** Sends a signal, and waits for the end of the process; null without an exit code. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
}

/** Matches the line of the log about the end of the apply of a commit; any for an empty one. */
export function ended(commit: string, status: string): RegExp {
  return new RegExp(`^apply ended .*"commit":"${commit}.*"status":"${status}"`)
}

/** Matches the line of the log about the failure of a commit. */
export function notApplied(commit: string): RegExp {
  return new RegExp(`^commit not applied .*"commit":"${commit}`)
}

/** Token of the HTTP interface of each replica. */
export const serveToken = 'token-of-the-http-interface'

/**
 * Starts a replica, and waits until its HTTP interface answers.
 *
 * @param program what Node runs
 */
export async function startReplica(
  cwd: string,
  env: Record<string, string | undefined>,
  args: string[] = [],
  program = findProgram(),
): Promise<Replica> {
  const flags = ['serve', '--port', '0', '--poll', '5', ...args]
  const child = spawn(process.execPath, [...program, ...flags], {
    cwd,
    env: { PATH: process.env['PATH'], EDGEWISE_SERVE_TOKEN: serveToken, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log: LogLine[] = []
  let err = ''
  const waiting = new Set<() => void>()
  createInterface({ input: child.stderr }).on('line', (line) => {
    err += `${line}\n`
    if (line.startsWith('{')) log.push(JSON.parse(line) as LogLine)
    for (const check of waiting) check()
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const lines: string[] = []
  const first = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (lines.push(line) === 2) resolve()
    })
  })
  await Promise.race([
    first,
    exited.then(() => Promise.reject(new Error(`the replica ended: ${err}`))),
  ])
  const [url, healthUrl] = lines.map((line) => line.replace(/^.* on /, '')) as [string, string]
  return {
    url,
    healthUrl,
    log,
    get err() {
      return err
    },
    process: child,
    waitFor: (message) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const found = log.find((each) =>
            typeof message === 'string'
              ? each.message.includes(message)
              : message.test(`${each.message} ${JSON.stringify(each)}`),
          )
          if (found === undefined) return
          waiting.delete(check)
          resolve(found)
        }
        waiting.add(check)
        check()
        void exited.then(() => reject(new Error(`the replica ended before "${message}": ${err}`)))
      }),
    get: (path, init = {}) =>
      fetch(url + path, { headers: { authorization: `Bearer ${serveToken}` }, ...init }),
    end: async (signal) => {
      child.kill(signal)
      return (await exited)[0]
    },
  }
}
