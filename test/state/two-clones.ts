import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { GitRepository } from '../../src/state/git/git-repository.ts'
import { openState } from '../../src/state/store/open-state.ts'
import type { Store } from '../../src/state/store/store.ts'
import { GitSandbox } from './git-sandbox.ts'

export const branch = 'edgewise-state'

/** Two clones of one remote, with state in them. */
export class Two {
  readonly sandbox = new GitSandbox()

  static async make(): Promise<Two> {
    const two = new Two()
    await two.sandbox.withRemote('remote.git', 'clone', 'other')
    return two
  }

  /** Copies the repositories, which takes less time than the saves that made them. */
  copy(): Two {
    const two = new Two()
    cpSync(this.sandbox.folder, two.sandbox.folder, { recursive: true })
    for (const clone of ['clone', 'other']) {
      const config = join(two.sandbox.folder, clone, '.git', 'config')
      const text = readFileSync(config, 'utf8')
      writeFileSync(config, text.replaceAll(this.sandbox.folder, two.sandbox.folder))
    }
    return two
  }

  async open(
    where: string,
    id = 'default',
    disturb: (git: GitRepository) => GitRepository = (git) => git,
    openRepository = () => this.sandbox.open(where),
  ): Promise<Store> {
    const root = `${this.sandbox.folder}/${where}`
    const state = { store: 'git' as const, branch, remote: 'origin', path: 'state' }
    const openGit = async () => disturb(await openRepository())
    const { store } = await openState(
      { root, id, address: 'https://api.example.net', account: 'default', state },
      { disk: realDisk, processName: where, openGit },
    )
    await store.load()
    return store
  }

  /** Lists the subjects of the commits on the remote branch, first to last. */
  async log(): Promise<string[]> {
    return (await this.sandbox.git('remote.git', 'log', '--reverse', '--format=%s', branch)).split(
      '\n',
    )
  }
}
