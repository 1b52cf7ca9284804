import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPath } from './bundle.ts'

/** Lists the reasons why a version can't be released from the repository in a folder. */
export function findReleaseProblems(
  folder: string,
  version: string,
  { branch, changelog }: { branch: string | null; changelog: string },
): string[] {
  const git = createGit(folder)
  const isOther = branch?.startsWith('release/') === true && branch !== `release/v${version}`
  const headings = changelog.split('\n').filter((line) => line.startsWith('## '))
  return [
    ...(git('status', '--porcelain') === '' ? [] : ['the work tree has changes: commit them']),
    ...(git('tag', '--list', `v${version}`) === ''
      ? []
      : [`the tag v${version} exists: set the next version in package.json`]),
    ...(isOther ? [`package.json has version ${version}, the branch is named ${branch}`] : []),
    ...(headings.some((line) => line.startsWith(`## ${version} `) && !line.endsWith(' unreleased'))
      ? []
      : [`CHANGELOG.md has no heading "## ${version} – DATE"`]),
  ]
}

/**
 * Creates a commit on top of HEAD whose tree also has `dist`, and tags it. Neither the branch nor
 * the index changes. Equal builds of a commit give equal commits: author and dates are those of
 * HEAD.
 *
 * @returns the commit
 */
export function commitWithProgram(folder: string, version: string): string {
  const temporary = mkdtempSync(join(tmpdir(), 'edgewise-release-'))
  try {
    const [name = '', email = '', date = ''] = createGit(folder)(
      'show',
      '--no-patch',
      '--format=%cn%n%ce%n%cI',
      'HEAD',
    ).split('\n')
    const git = createGit(folder, {
      GIT_INDEX_FILE: join(temporary, 'index'),
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
      GIT_COMMITTER_DATE: date,
    })
    git('read-tree', 'HEAD')
    git('add', '--force', 'dist')
    // A file system without modes, or git with core.fileMode off, knows of no executable file.
    git('update-index', '--chmod=+x', `dist/${programPath}`)
    const tree = git('write-tree')
    const message = `Add the program of version ${version}`
    const commit = git('commit-tree', tree, '-p', 'HEAD', '-m', message)
    git('tag', '--annotate', '--no-sign', '--message', `Version ${version}`, `v${version}`, commit)
    return commit
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

function createGit(folder: string, env: Record<string, string> = {}) {
  return (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    }).trim()
}
