import { join } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Disk } from '../folder/disk.ts'
import type { Changes, GitRepository } from './git-repository.ts'
import {
  findCommon,
  findContents,
  findForeignPaths,
  listLocalChanges,
  loadView,
  readCommit,
  buildBranchRef,
  readmePath,
  readmeText,
  refuseForeign,
  type GitLocation,
  type BranchView,
} from './git-view.ts'
import { fetchTips, refuseOlder, refuseRewound, rememberSeen } from './shared-tip.ts'
import type { UncommittedChanges } from '../format/log-file.ts'
import { joinChanges, OutcomeLog } from './outcome-log.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import type { Guard, LocalChanges, SharedFiles, StateFiles } from '../store/state-files.ts'
import { writeFilesDurably, type FileChanges, DurableFolders } from '../folder/write-file.ts'

const maxRaces = 8

/**
 * State files of a branch, with the commits that this process works with. `write` commits in this
 * repository, `record` adds to what the next commit has; `publish` and `share` push to the remote
 * too.
 */
export class GitFiles implements StateFiles {
  readonly location: string
  readonly share: StateFiles['share']
  readonly #git: GitRepository
  readonly #place: GitLocation
  readonly #ref: string
  readonly #disk: Disk
  readonly #temporary: string
  readonly #queue = createSerialQueue()
  readonly #folders: DurableFolders
  readonly #localTexts = new Map<string, string>()
  /** Paths of another state that the last commit changed. */
  #foreign: string[] = []
  readonly #log: OutcomeLog
  /** Changes of the log that the tip lacks. */
  #uncommitted: UncommittedChanges[] = []
  #view: Promise<BranchView> | null = null

  constructor(git: GitRepository, place: GitLocation, disk: Disk, temporary: string) {
    this.#git = git
    this.#place = place
    this.#ref = buildBranchRef(place)
    this.#disk = disk
    this.#folders = new DurableFolders(disk, git.commonFolder)
    this.#temporary = temporary
    this.#log = new OutcomeLog(git, place.home, disk, this.#folders)
    this.share = git.remote === null ? null : () => this.#share()
    this.location = `branch ${place.branch}${git.remote === null ? '' : ` of ${git.remote}`}`
  }

  /**
   * Forgets the local texts: others may have shared newer ones since, and this machine has its own
   * in a file.
   */
  refresh(): void {
    this.#view = null
    this.#uncommitted = []
    this.#localTexts.clear()
  }

  describePath(path: string): string {
    return readCommit(this.#git, this.#place, null).describePath(path)
  }

  async listTopFolders(): Promise<string[]> {
    return (await this.#readTip()).listTopFolders()
  }

  async listPaths(folder: string): Promise<string[]> {
    return (await this.#readTip()).listPaths(folder)
  }

  async load(...folders: string[]): Promise<Map<string, string>> {
    return (await this.#readTip()).load(...folders)
  }

  /** Reads the files of all workspaces. */
  async #readTip(): Promise<SharedFiles> {
    const view = await this.#loadView()
    if (this.#uncommitted.length > 0) await this.#queue(() => this.#commitLog(view))
    return readCommit(this.#git, this.#place, view.tip)
  }

  /** Records changes in the log of this clone; the next commit has them. */
  record(steps: FileChanges[], message: string): Promise<void> {
    return this.#queue(async () => {
      const view = await this.#loadView()
      const isAhead = view.tip !== view.local && this.#log.isEmpty
      if (view.local === null || isAhead) return this.#write(view, steps, message)
      const changes = { message, files: new Map(steps.flatMap((step) => [...step])) }
      await this.#log.add(view.local, changes)
      this.#uncommitted.push(changes)
    })
  }

  write(steps: FileChanges[], message: string, guard?: Guard): Promise<void> {
    return this.#queue(async () => this.#write(await this.#loadView(), steps, message, guard))
  }

  async #write(view: BranchView, steps: FileChanges[], message: string, guard?: Guard) {
    await this.#commitLog(view)
    const before = view.tip
    await this.#commit(view, steps, message, guard)
    try {
      await this.#moveLocal(view, guard)
    } catch (error) {
      // Outcomes are recorded with the next write; a refused change never is.
      if (guard !== undefined) view.tip = before
      throw error
    }
  }

  async #commit(view: BranchView, steps: FileChanges[], message: string, guard?: Guard) {
    await guard?.(readCommit(this.#git, this.#place, view.tip))
    this.#foreign = findForeignPaths(this.#place, steps)
    view.tip = await this.#git.commit(view.tip, this.#buildChanges(view.tip, steps), message)
  }

  async publish(steps: FileChanges[], message: string, guard?: Guard): Promise<void> {
    await this.#git.refuseCheckedOut(this.#ref)
    if (this.#git.remote === null) return this.write(steps, message, guard)
    return this.#queue(async () => {
      const view = await this.#loadView()
      await this.#commitLog(view)
      const before = view.tip
      // Refuses before the push what can't be recorded here, because of a full disk for example.
      if (view.local !== null) await this.#git.move(this.#ref, view.local, view.local)
      try {
        await this.#commit(view, steps, message, guard)
        await this.#push(view, message, guard)
      } catch (error) {
        view.tip = before
        throw error
      }
      await this.#moveLocal(view)
    })
  }

  #share(): Promise<void> {
    return this.#queue(async () => {
      const view = await this.#loadView()
      await this.#commitLog(view)
      if (view.tip === view.shared && view.dropped === null) return
      if (view.tip !== view.shared) await this.#push(view, 'Outcomes recorded before')
      if (view.tip !== view.local) await this.#moveLocal(view)
    })
  }

  async listDropped(): Promise<LocalChanges> {
    const { dropped, tip } = await this.#loadView()
    if (dropped === null) return { paths: [], commit: null }
    return listLocalChanges(this.#git, dropped.base, dropped.tip, tip)
  }

  async listUnshared(): Promise<LocalChanges> {
    const { shared, tip } = await this.#loadView()
    if (this.#git.remote === null || tip === null || tip === shared)
      return { paths: [], commit: null }
    return listLocalChanges(this.#git, shared, tip, shared)
  }

  async saveLocally(path: string, text: string): Promise<void> {
    this.#localTexts.set(path, text)
    await this.#queue(() =>
      writeFilesDurably(
        this.#disk,
        this.#folders,
        new Map([[this.#buildLocalPath(path), text]]),
        this.#temporary,
      ),
    )
  }

  async loadLocalAndShared(path: string): Promise<{ here: string | null; shared: string | null }> {
    const here = await this.#disk.read(this.#buildLocalPath(path))
    return { here, shared: (await this.load(path)).get(path) ?? null }
  }

  /**
   * Adds a file on top of the current commit of the branch, whoever made it.
   *
   * @throws EdgewiseError `record-moved` if there is no branch, `state-rewound` if the remote lost
   *   commits, `record-unreachable`
   */
  async add(path: string, text: string, message: string): Promise<void> {
    const [git, ref] = [this.#git, this.#ref]
    if (git.remote === null) await git.refuseCheckedOut(ref)
    for (let race = 0; race < maxRaces; race++) {
      const tip = git.remote === null ? await git.findTip(ref) : (await fetchTips(git, ref)).shared
      if (tip === null) throw new EdgewiseError('record-moved', `there is no ${ref} any more`)
      const next = await git.commit(tip, new Map([[path, text]]), message)
      const move = git.remote === null ? git.move : git.push
      if (!(await move(ref, tip, next))) continue
      if (git.remote !== null) await rememberSeen(git, ref, tip, next)
      return
    }
    throw new EdgewiseError('record-unreachable', `${ref} moved ${maxRaces} times during the write`)
  }

  #buildLocalPath(path: string): string {
    return join(this.#git.commonFolder, 'edgewise', path)
  }

  /** Builds one commit of all steps, with the latest local texts. */
  #buildChanges(tip: string | null, steps: FileChanges[]): Changes {
    const first = new Map(tip === null ? [[readmePath, readmeText]] : [])
    return new Map([...first, ...this.#localTexts, ...steps.flatMap((step) => [...step])])
  }

  #loadView(): Promise<BranchView> {
    this.#view ??= loadView(this.#git, this.#place, this.#log)
    return this.#view
  }

  /** Commits the changes of the log, which are durable there until the branch has the commit. */
  async #commitLog(view: BranchView): Promise<void> {
    const changes = this.#uncommitted
    if (changes.length === 0) return
    const { files, message } = joinChanges(changes)
    view.tip = await this.#git.commit(view.tip, this.#buildChanges(view.tip, [files]), message)
    this.#uncommitted = []
  }

  /** Pushes the tip; if others were faster, on top of their commits. */
  async #push(view: BranchView, message: string, guard?: Guard): Promise<void> {
    const git = this.#git
    await refuseOlder(git, this.#ref, view.shared)
    for (let race = 0; race < maxRaces; race++) {
      if (await git.push(this.#ref, view.shared, view.tip)) {
        if (view.tip !== null) await rememberSeen(git, this.#ref, view.shared, view.tip)
        view.shared = view.tip
        return
      }
      const { shared: winner } = await fetchTips(git, this.#ref, view.shared)
      await refuseForeign(git, this.#place, await findCommon(git, view, winner), winner)
      await this.#recommit(view, winner, message, guard)
      view.shared = winner
    }
    throw new EdgewiseError(
      'record-unreachable',
      `the branch ${this.#place.branch} of ${git.remote} moved ${maxRaces} times during the write`,
      'Run the same command again when fewer processes write to it.',
    )
  }

  /**
   * Moves the branch of this repository to the tip. With a remote it is a copy; without one it is
   * the state itself.
   */
  async #moveLocal(view: BranchView, guard?: Guard): Promise<void> {
    const git = this.#git
    for (let race = 0; race < maxRaces; race++) {
      if (await git.move(this.#ref, view.local, view.tip)) {
        view.local = view.tip
        view.dropped = null
        await this.#log.clear()
        return
      }
      const winner = await git.findTip(this.#ref)
      if (git.remote === null) {
        await refuseRewound(git, this.#ref, view.local, winner)
        await refuseForeign(git, this.#place, view.local, winner)
        await this.#recommit(view, winner, 'Record state on top of another commit', guard)
      }
      view.local = winner
    }
    throw new EdgewiseError(
      'record-moved',
      `the branch ${this.#place.branch} moved ${maxRaces} times during the write`,
    )
  }

  /** Commits on top of another commit what the tip has of this state, and of what it changes. */
  async #recommit(view: BranchView, winner: string | null, message: string, guard?: Guard) {
    const [git, { home, others }] = [this.#git, this.#place]
    await guard?.(readCommit(git, this.#place, winner))
    const own = await findContents(git, view.tip, [readmePath, home, ...others, ...this.#foreign])
    view.tip = await git.commit(winner, own, message)
  }
}
