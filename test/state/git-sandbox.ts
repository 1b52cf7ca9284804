import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simpleGit } from 'simple-git'
import { openGit } from '../../src/state/git/open-git.ts'
import { buildGitEnvironment } from '../../src/state/git/git-environment.ts'
import type { GitRepository } from '../../src/state/git/git-repository.ts'
import type { RemoteContext } from '../../src/state/git/remote-calls.ts'

/** Folder for repositories, with git run by a neutral user: no settings of the real user apply. */
export class GitSandbox {
  readonly folder = mkdtempSync(join(tmpdir(), 'edgewise-git-'))
  readonly env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: this.folder,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'init.defaultBranch',
    GIT_CONFIG_VALUE_0: 'main',
  }

  /**
   * Runs git in one of the folders.
   *
   * @returns what it prints
   */
  git(where: string, ...args: string[]): Promise<string> {
    return (
      simpleGit({
        baseDir: join(this.folder, where),
        config: ['user.name=Test', 'user.email=test@example.com'],
        trimmed: true,
        allowEnvironment: Object.keys(this.env),
        unsafe: allowed,
        errors: (error, { exitCode, stdErr }) =>
          error ?? (exitCode === 0 ? undefined : Buffer.concat(stdErr)),
      })
        .env(this.env)
        // After a command without output the library waits for 50 ms; an empty chunk ends that.
        .outputHandler((_command, out) => out.on('end', () => out.emit('data', Buffer.alloc(0))))
        .raw(args)
    )
  }

  /** Creates a repository with a commit. */
  async repository(name: string): Promise<string> {
    return this.#copy('alone', name)
  }

  /** Creates a bare repository, and clones of it with a commit. */
  async withRemote(remote = 'remote.git', ...clones: string[]): Promise<string> {
    const [first = 'clone', ...others] = clones
    await this.#copy('remote.git', remote)
    for (const name of [first, ...others]) await this.addClone(name, remote)
    return join(this.folder, first)
  }

  /** Adds a clone that has seen only the first commit of its remote. */
  async addClone(name: string, remote = 'remote.git'): Promise<void> {
    const config = join(await this.#copy('clone', name), '.git', 'config')
    const url = join(this.folder, remote)
    writeFileSync(config, readFileSync(config, 'utf8').replace(/^(\turl = ).*$/m, `$1${url}`))
  }

  async #copy(from: string, to: string): Promise<string> {
    template ??= makeTemplate()
    cpSync(join(await template, from), join(this.folder, to), { recursive: true })
    return join(this.folder, to)
  }

  async open(
    name: string,
    env: Record<string, string | undefined> = {},
    context: Partial<RemoteContext> = {},
  ): Promise<GitRepository> {
    const git = await openGit(
      join(this.folder, name),
      'origin',
      buildGitEnvironment({ ...this.env, ...env }, ''),
      {
        clock: { now: () => Date.UTC(2026, 10, 20) },
        signal: new AbortController().signal,
        ...context,
      },
    )
    if (git === null) throw new Error(`expected a repository in ${name}`)
    return git
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Repositories that sandboxes copy, which takes less time than git does; made on demand. */
let template: Promise<string> | null = null

async function makeTemplate(): Promise<string> {
  const made = new GitSandbox()
  process.once('exit', () => made.remove())
  await made.git('.', 'init', '--quiet', '--template=', 'alone')
  await made.git('alone', 'commit', '--quiet', '--allow-empty', '-m', 'first')
  await made.git('.', 'init', '--quiet', '--template=', '--bare', 'remote.git')
  await made.git('.', 'clone', '--quiet', '--template=', 'remote.git', 'clone')
  await made.git('clone', 'commit', '--quiet', '--allow-empty', '-m', 'first')
  await made.git('clone', 'push', '--quiet', 'origin', 'HEAD')
  for (const folder of ['alone/.git', 'remote.git', 'clone/.git'])
    mkdirSync(join(made.folder, folder, 'hooks'))
  // After each push, a remote would start a process to find that it needs no maintenance.
  appendFileSync(join(made.folder, 'remote.git', 'config'), '[receive]\n\tautogc = false\n')
  return made.folder
}

/** The sandbox has its own settings; tests replace programs of the remote and hooks. */
const allowed = {
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeHooksPath: true,
  allowUnsafePack: true,
  allowUnsafeTemplateDir: true,
}
