import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openGit } from '../../src/state/git/plumbing.ts'
import { buildGitEnvironment } from '../../src/state/git/git-process.ts'
import type { GitRepository } from '../../src/state/git/git-repository.ts'

/**
 * A folder for repositories, and git in it as nobody in particular: no settings of the user take
 * part.
 */
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

  /** Runs git in one of the folders and gives what it prints. */
  git(where: string, ...args: string[]): string {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
    return execFileSync('git', [...who, ...args], {
      cwd: join(this.folder, where),
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  }

  /** A repository with a commit. */
  repository(name: string): string {
    return this.#copy('alone', name)
  }

  /** A bare repository, and clones of it with a commit. */
  withRemote(remote = 'remote.git', ...clones: string[]): string {
    const [first = 'clone', ...others] = clones
    const url = this.#copy('remote.git', remote)
    for (const name of [first, ...others]) {
      const config = join(this.#copy('clone', name), '.git', 'config')
      writeFileSync(config, readFileSync(config, 'utf8').replace(/^(\turl = ).*$/m, `$1${url}`))
    }
    return join(this.folder, first)
  }

  #copy(from: string, to: string): string {
    template ??= makeTemplate()
    cpSync(join(template, from), join(this.folder, to), { recursive: true })
    return join(this.folder, to)
  }

  async open(name: string, env: Record<string, string | undefined> = {}): Promise<GitRepository> {
    const git = await openGit(
      join(this.folder, name),
      'origin',
      buildGitEnvironment({ ...this.env, ...env }, ''),
      () => Date.UTC(2026, 10, 20),
    )
    if (git === null) throw new Error(`expected a repository in ${name}`)
    return git
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Repositories that sandboxes copy, which takes less time than git does; made on demand. */
let template: string | null = null

function makeTemplate(): string {
  const made = new GitSandbox()
  process.once('exit', () => made.remove())
  made.git('.', 'init', '--quiet', '--template=', 'alone')
  made.git('alone', 'commit', '--quiet', '--allow-empty', '-m', 'first')
  made.git('.', 'init', '--quiet', '--template=', '--bare', 'remote.git')
  made.git('.', 'clone', '--quiet', '--template=', 'remote.git', 'clone')
  made.git('clone', 'commit', '--quiet', '--allow-empty', '-m', 'first')
  made.git('clone', 'push', '--quiet', 'origin', 'HEAD')
  for (const folder of ['alone/.git', 'remote.git', 'clone/.git'])
    mkdirSync(join(made.folder, folder, 'hooks'))
  return made.folder
}
