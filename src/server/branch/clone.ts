import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Authors } from '../../core/model/people/approvers.ts'
import { parseAddress } from '../../core/model/people/identity.ts'
import { formatCount } from '../../core/model/text/words.ts'
import { createGitError, splitLines, type GitResult } from '../../state/git/git-command.ts'
import type { GitPlace } from '../../state/git/git-environment.ts'
import { isCommitId, parseBranches, type RemoteBranches } from '../http/address.ts'
import { remoteName, type CloneGit, type LocalOptions } from './clone-git.ts'

/** The clone failed: it may be damaged. */
class CloneError extends EdgewiseError {}

/** Answers of git for a commit that the remote does not have or does not give. */
const absent = /not our ref|couldn't find remote ref|unadvertised object|no such remote ref/i

/** Fetches commits and folders of the whole history, but no files: a checkout fetches its own. */
const fetchCommand = [
  'fetch',
  '--progress',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--filter=blob:none',
]

/** The files are those of the commit, byte for byte: no filter, no line ends, no encoding. */
const attributes = '* -text !eol -filter -ident !working-tree-encoding\n'

const checkoutSettings = [
  `core.symlinks=${process.platform !== 'win32'}`,
  'core.fileMode=true',
  'core.sparseCheckout=false',
  'core.splitIndex=false',
  'submodule.recurse=false',
  'core.protectNTFS=true',
  'core.protectHFS=true',
]

/** Maximum size of the list of a commit's files: that of some 700,000 files. */
const maxListBytes = 64 * 1024 ** 2
/** Maximum size of all files of a commit, bytes. */
const maxFileBytes = 10 * 1024 ** 3

/** Age from which on nothing writes to an unfinished pack, ms: remotes that hang are given up. */
const leftoverMs = 10 * 60_000

/** Number of commits whose authors are looked up. */
const maxAuthored = 10_000

/** Git packs the clone when it has more packs or loose objects than this. */
const packSettings = ['gc.auto=6700', 'gc.autoPackLimit=50', 'gc.autoDetach=false']

/**
 * Bare clone of a repository. Processes may share it: git locks what it changes, and each commit
 * has a ref of its own. A damaged clone is replaced.
 */
export class Clone {
  readonly #git: CloneGit
  readonly #folder: string
  /** Folder of this process in the same file system. */
  readonly #own: string
  readonly #newId: () => string
  #format = 'sha1'

  constructor(git: CloneGit, folder: string, own: string, newId: () => string) {
    this.#git = git
    this.#folder = folder
    this.#own = own
    this.#newId = newId
  }

  /** @throws EdgewiseError `unavailable` if the remote can't be read */
  async listBranches(): Promise<RemoteBranches> {
    const args = ['ls-remote', '--symref', remoteName, 'HEAD', 'refs/heads/*']
    const result = await this.#git.network(args, null)
    if (result.code !== 0) throw this.#git.createRemoteError(result)
    const branches = parseBranches(splitLines(result.out))
    const [tip] = branches.tips.values()
    if (tip !== undefined) this.#format = tip.length === 64 ? 'sha256' : 'sha1'
    return branches
  }

  /**
   * Fetches a commit unless the clone has it.
   *
   * @param source ref of the remote that contains it, or its id
   * @returns false if the remote does not give it
   */
  async obtain(commit: string, source: string): Promise<boolean> {
    return this.#repaired(async () => {
      if (await this.#has(commit)) return true
      const args = [...fetchCommand, remoteName, `+${source}:refs/edgewise/${commit}`]
      const result = await this.#git.network(args, this.#folder)
      if (result.code === 0) return this.#has(commit)
      if (absent.test(result.err)) return false
      throw this.#createError(this.#git.createRemoteError(result))
    })
  }

  /**
   * Writes the files of a commit that the clone has into a new folder, which is a repository with
   * this commit as its HEAD. Without the clone it lacks the history.
   */
  async checkOut(commit: string, folder: string): Promise<void> {
    await this.#repairedWith(commit, async () => {
      await this.#obtainFiles(commit)
      await this.#refuseHuge(commit)
      const made = join(this.#own, `new-${this.#newId()}`)
      await mkdir(made, { recursive: true, mode: 0o700 })
      await this.#init([], { cwd: made, gitFolder: join(made, '.git'), workTree: made })
      const settings = checkoutSettings.flatMap((setting) => ['-c', setting])
      await this.#run([...settings, 'read-tree', '--reset', '-u', commit], {
        workTree: made,
        env: { GIT_INDEX_FILE: join(made, '.git', 'index') },
      })
      await writeFile(join(made, '.git', 'HEAD'), `${commit}\n`)
      // Plans ask for the tree of the commit, and how others are related to it.
      const info = join(made, '.git', 'objects', 'info')
      await mkdir(info, { recursive: true })
      await writeFile(join(info, 'alternates'), `${join(this.#folder, 'objects')}\n`)
      await rename(made, folder)
    })
  }

  /** Lists the paths of all files of a commit that the clone has. */
  async listFiles(commit: string): Promise<string[]> {
    const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit]
    return this.#repairedWith(commit, async () => splitLines((await this.#run(args)).out, '\0'))
  }

  /** Whether `ancestor` is an ancestor of a commit that the clone has, or this commit. */
  async isAncestor(ancestor: string, commit: string): Promise<boolean> {
    return this.#repairedWith(commit, async () => {
      // The clone has the whole history of the commit.
      if (!(await this.#has(ancestor))) return false
      const args = ['merge-base', '--is-ancestor', ancestor, commit]
      return (await this.#run(args, { codes: [0, 1] })).code === 0
    })
  }

  /** Lists a commit that the clone has, and its first parents, newest first. */
  async listHistory(commit: string, max: number): Promise<string[]> {
    // Where git runs, folders have the names of commits.
    const args = ['rev-list', '--first-parent', `--max-count=${max}`, commit, '--']
    return this.#repairedWith(commit, async () => splitLines((await this.#run(args)).out))
  }

  /** Finds who wrote the commits after some others, as `Branch.findAuthors` does. */
  async findAuthors(after: readonly (string | null)[], commit: string): Promise<Authors> {
    const base = await this.#findBase(after, commit)
    const settings = ['-c', 'log.showSignature=false', 'log', '--no-mailmap', '--no-merges']
    const format = `--format=%x00%H%n%ae%n%ce%n%(trailers:key=Co-authored-by,valueonly)`
    const range = base === null ? [commit] : [commit, `^${base}`]
    const args = [...settings, `--max-count=${maxAuthored + 1}`, format, ...range, '--']
    const { out } = await this.#repairedWith(commit, () => this.#run(args))
    const commits = out.toString().split('\0').slice(1)
    if (commits.length > maxAuthored)
      return `more than ${formatCount(maxAuthored)} commits may be theirs`
    const found = new Set<string>()
    for (const each of commits) {
      const [id = '', author = '', committer = '', ...others] = each.split('\n')
      for (const line of [author, committer, ...others.filter((other) => other !== '')]) {
        const address = parseAddress((/<([^<>]*)>\s*$/.exec(line)?.[1] ?? line).trim())
        if (address === null) return `commit ${id.slice(0, 12)} names somebody without an address`
        found.add(address)
      }
    }
    return found
  }

  /** Finds the last commit that comes before some others and one more; null without one. */
  async #findBase(others: readonly (string | null)[], commit: string): Promise<string | null> {
    const known = others.flatMap((other) => (other !== null && isCommitId(other) ? [other] : []))
    if (known.length < others.length || known.length === 0) return null
    const args = ['merge-base', '--octopus', commit, ...known]
    const { code, out } = await this.#git.local(args, this.#folder)
    return code === 0 ? (splitLines(out)[0] ?? null) : null
  }

  /** Removes the refs of all other commits, and packs the clone if it has become scattered. */
  async keepOnly(commits: string[]): Promise<void> {
    await this.#repaired(async () => {
      const refs = await this.#run(['for-each-ref', '--format=%(refname)', 'refs/edgewise/'])
      const kept = new Set(commits.map((commit) => `refs/edgewise/${commit}`))
      const others = splitLines(refs.out).filter((ref) => !kept.has(ref))
      const input = others.map((ref) => `delete ${ref}\n`).join('')
      if (input !== '') await this.#run(['update-ref', '--stdin'], { input })
      const settings = packSettings.flatMap((setting) => ['-c', setting])
      await this.#run([...settings, 'gc', '--auto', '--quiet'])
    })
  }

  /** Removes packs of fetches that were killed, or ended by a full disk: git never does. */
  async removeLeftovers(nowMs: number): Promise<void> {
    const packs = join(this.#folder, 'objects', 'pack')
    for (const name of existsSync(packs) ? await readdir(packs) : []) {
      const path = join(packs, name)
      // Another process that shares the clone may write it, or have removed it.
      const found = /^\.?tmp[-_]/.test(name) ? await stat(path).catch(() => null) : null
      if (found !== null && nowMs - found.mtimeMs > leftoverMs) await rm(path, { force: true })
    }
  }

  /** Tests whether the clone has a commit, without asking the remote. */
  async #has(commit: string): Promise<boolean> {
    const args = ['rev-list', '--no-walk', '--missing=print', commit, '--']
    const { code, out } = await this.#git.local(args, this.#folder)
    return code === 0 && splitLines(out)[0] === commit
  }

  /** Fetches the files of a commit that the clone lacks, in one call. */
  async #obtainFiles(commit: string): Promise<void> {
    const args = ['rev-list', '--objects', '--no-walk', '--missing=print', commit, '--']
    const { out } = await this.#run(args)
    const ids = splitLines(out).flatMap((line) => (line.startsWith('?') ? [line.slice(1)] : []))
    if (ids.length === 0) return
    const input = ids.map((id) => `${id}\n`).join('')
    const fetch = [...fetchCommand, '--stdin', remoteName]
    const result = await this.#git.network(fetch, this.#folder, input)
    if (result.code !== 0) throw this.#createError(this.#git.createRemoteError(result))
  }

  /**
   * Refuses a commit with more files than a disk and git's memory hold: a folder or a file may be
   * in many places, so that a few kilobytes make billions of files.
   */
  async #refuseHuge(commit: string): Promise<void> {
    const fault = new EdgewiseError(
      'invalid',
      `the files of commit ${commit.slice(0, 12)} have more than ${maxFileBytes / 1024 ** 3} GB, ` +
        `or their list has more than ${maxListBytes / 1024 ** 2} MB`,
      'Nothing of this commit is applied. Remove files that Edgewise does not need, or move the ' +
        'workspace into a repository of its own.',
    )
    const args = ['ls-tree', '-r', '--long', '-z', '--full-tree', commit]
    const { out } = await this.#run(args, { most: { bytes: maxListBytes, fault } })
    const sizes = splitLines(out, '\0').map(
      // The size stands before the name; other entries than files have none.
      (line) => Number(line.slice(0, line.indexOf('\t')).split(' ').at(-1)) || 0,
    )
    if (sizes.reduce((sum, size) => sum + size, 0) > maxFileBytes) throw fault
  }

  async #run(
    args: string[],
    options: LocalOptions & { workTree?: string; codes?: number[] } = {},
  ): Promise<GitResult> {
    const { workTree = this.#own } = options
    const place = { cwd: workTree, gitFolder: this.#folder, workTree }
    const result = await this.#git.local(args, place, options)
    if ((options.codes ?? [0]).includes(result.code)) return result
    const command = args.filter((arg, i) => arg !== '-c' && args[i - 1] !== '-c')
    throw this.#createError(createGitError(command, result))
  }

  #createError({ message, hint }: EdgewiseError): CloneError {
    return new CloneError('unavailable', message, hint)
  }

  /** Like `#repaired`, for work on a commit, which a new clone has to fetch first. */
  #repairedWith<T>(commit: string, work: () => Promise<T>): Promise<T> {
    return this.#repaired(async () => {
      if (!(await this.#has(commit)) && !(await this.obtain(commit, commit)))
        throw this.#git.createAbsentError(commit)
      return work()
    })
  }

  /** Does some work. If the clone fails and is damaged, replaces it and does the work again. */
  async #repaired<T>(work: () => Promise<T>): Promise<T> {
    await this.#create()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof CloneError)) throw error
      // An unreachable remote or a full disk are no reason to fetch everything again.
      await this.listBranches()
      const check = await this.#git.local(['fsck', '--no-dangling', '--no-progress'], this.#folder)
      if (check.code === 0) throw error
      await this.#discard()
      await this.#create()
      return work()
    }
  }

  /** Creates an empty clone unless there is one. Another process may do the same. */
  async #create(): Promise<void> {
    if (existsSync(this.#folder)) return
    const made = join(this.#own, `clone-${this.#newId()}`)
    await this.#init(['--bare'], { cwd: this.#own, gitFolder: made, workTree: null })
    await mkdir(join(made, 'info'), { recursive: true })
    await writeFile(join(made, 'info', 'attributes'), attributes)
    try {
      await rename(made, this.#folder)
    } catch (error) {
      if (!existsSync(this.#folder)) throw error
      await rm(made, { recursive: true })
    }
  }

  async #init(options: string[], place: GitPlace): Promise<void> {
    await mkdir(this.#own, { recursive: true, mode: 0o700 })
    const format = `--object-format=${this.#format}`
    const args = ['init', '--quiet', '--template=', format, ...options]
    const result = await this.#git.local(args, place)
    if (result.code !== 0) throw createGitError(args, result)
  }

  async #discard(): Promise<void> {
    const damaged = join(this.#own, `damaged-${this.#newId()}`)
    await rename(this.#folder, damaged)
    await rm(damaged, { recursive: true, force: true })
  }
}
