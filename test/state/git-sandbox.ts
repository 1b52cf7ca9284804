import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openGit } from '../../src/state/git/plumbing.ts'
import { buildGitEnvironment } from '../../src/state/git/git-process.ts'
import type { GitRepository } from '../../src/state/git/git-repository.ts'

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

  /** Runs git in one of the folders and returns its output. */
  git(where: string, ...args: string[]): string {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
    return execFileSync('git', [...who, ...args], {
      cwd: join(this.folder, where),
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  }

  /** Creates a repository with a commit. */
  repository(name: string): string {
    this.git('.', 'init', '--quiet', name)
    this.git(name, 'commit', '--quiet', '--allow-empty', '-m', 'first')
    return join(this.folder, name)
  }

  /** Creates a bare repository, and a clone of it with a commit. */
  withRemote(remote = 'remote.git', clone = 'clone'): string {
    this.git('.', 'init', '--quiet', '--bare', remote)
    this.git('.', 'clone', '--quiet', remote, clone)
    this.git(clone, 'commit', '--quiet', '--allow-empty', '-m', 'first')
    this.git(clone, 'push', '--quiet', 'origin', 'HEAD')
    return join(this.folder, clone)
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
