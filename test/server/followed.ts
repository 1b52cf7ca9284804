import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'vitest'
import { openBranch, type Branch, type BranchOptions } from '../../src/server/branch/branch.ts'
import { buildGitEnvironment } from '../../src/state/git/git-environment.ts'
import type { Machine } from '../../src/state/locks/machine.ts'
import { GitSandbox } from '../state/git-sandbox.ts'

export const workspace = 'apiVersion: edgewise/v1\n'

/** Machine of a process that runs; of the others, those in `dead` have ended. */
export function buildMachine(pid: number, dead: number[] = []): Machine {
  return {
    boot: 'boot',
    namespace: 'namespace',
    pid,
    started: '1',
    uptime: () => 0,
    processName: `machine-${pid}`,
    isRunning: (other) => !dead.includes(other),
  }
}

/** A remote with a workspace in its top folder, and a data folder for its clones. */
export class Followed {
  readonly sandbox = new GitSandbox()
  readonly #opened: Branch[] = []
  #ids = 0

  path = (...names: string[]) => join(this.sandbox.folder, ...names)
  remote = this.path('remote.git')
  data = this.path('data')
  git = (...args: string[]) => this.sandbox.git('clone', ...args)

  async prepare(): Promise<void> {
    await this.sandbox.withRemote()
    await this.sandbox.git('remote.git', 'config', 'uploadpack.allowFilter', 'true')
    await this.push({ 'edgewise.yaml': workspace })
  }

  /** Commits files and pushes them; returns the commit. */
  async push(files: Record<string, string>, to = 'refs/heads/main'): Promise<string> {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(this.path('clone', name)), { recursive: true })
      writeFileSync(this.path('clone', name), text)
    }
    await this.git('add', '--all')
    await this.git('commit', '--quiet', '-m', 'next', '--allow-empty')
    await this.git('push', '--quiet', '--force', 'origin', `HEAD:${to}`)
    return this.git('rev-parse', 'HEAD')
  }

  /** Variables of git for the branch, besides those of the sandbox. */
  open = async (options: Partial<BranchOptions> = {}, env: Record<string, string> = {}) => {
    const branch = await openBranch({
      repository: this.remote,
      cwd: this.sandbox.folder,
      branch: null,
      folder: null,
      dataFolder: this.data,
      env: buildGitEnvironment({ ...this.sandbox.env, ...env }, ''),
      clock: { now: () => Date.now() },
      machine: buildMachine(1),
      newId: () => `id${++this.#ids}`,
      signal: new AbortController().signal,
      scrub: (text) => text,
      ...options,
    })
    this.#opened.push(branch)
    return branch
  }

  async end(): Promise<void> {
    for (const branch of this.#opened) await branch.close()
    this.sandbox.remove()
  }
}

export const it = test.extend<{ followed: Followed }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest requires a pattern
  followed: async ({}, use) => {
    const followed = new Followed()
    await followed.prepare()
    await use(followed)
    await followed.end()
  },
})

/** Returns what a promise was rejected with: message and hint. */
export async function findFailure(promise: Promise<unknown>): Promise<Record<string, string>> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error && 'code' in error && 'hint' in error))
    throw new Error(`expected an EdgewiseError, got ${String(error)}`, { cause: error })
  return { code: String(error.code), message: error.message, hint: String(error.hint) }
}
