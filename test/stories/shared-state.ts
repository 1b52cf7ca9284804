import { join } from 'node:path'
import type { StoreName } from '../../src/core/model/config.ts'
import { storeRows } from '../../src/core/model/stores.ts'
import { runProgram } from '../program.ts'
import { GitSandbox } from '../state/git-sandbox.ts'
import { TestSchema } from '../state/test-schema.ts'
import { Place, type CommandResult } from '../steps/cli.ts'

/** Stores of state, each of which a story is replayed with. */
export const stores = storeRows.map(([name]) => name)

/** Workspace whose commands the built program runs, in a process of their own. */
class ProgramPlace extends Place {
  override cli(...args: string[]): Promise<CommandResult> {
    return runProgram(this, ...args)
  }
}

/** A remote, two clones of it, and state that all workspaces in them share. */
export class SharedState {
  readonly sandbox = new GitSandbox()
  readonly #state: string
  readonly #env: Record<string, string>
  readonly #schema: TestSchema | null

  /** Prepares the clones `clone` and `other`. */
  static async make(store: StoreName): Promise<SharedState> {
    const shared = new SharedState(store, store === 'postgres' ? await TestSchema.make() : null)
    await shared.sandbox.withRemote('remote.git', 'clone', 'other')
    return shared
  }

  private constructor(store: StoreName, schema: TestSchema | null) {
    const database = schema?.configure((to) => to.searchParams.delete('application_name'))
    const states: Record<StoreName, string> = {
      dir: `{store: dir, path: ${join(this.sandbox.folder, 'state')}}`,
      git: '{store: git}',
      postgres: `{store: postgres, url: "\${env:DATABASE_URL}", schema: ${database?.schema}}`,
    }
    this.#schema = schema
    this.#state = `state: ${states[store]}`
    this.#env = {
      ...this.sandbox.env,
      ...(database === undefined ? {} : { DATABASE_URL: database.url }),
    }
  }

  /** Creates a workspace in a folder of the sandbox. */
  create(url: string, folder = 'clone', more = '', Kind = Place): Place {
    const root = join(this.sandbox.folder, folder)
    const place = new Kind(url, more, { root, state: this.#state })
    place.env = { ...place.env, ...this.#env }
    return place
  }

  /** Creates a workspace whose commands the built program runs. */
  build(url: string, folder = 'clone', more = ''): Place {
    return this.create(url, folder, more, ProgramPlace)
  }

  /** Commits all files of a clone, and returns the commit. */
  async commit(clone = 'clone'): Promise<string> {
    await this.sandbox.git(clone, 'add', '--all', '--', '.', ':(exclude).edgewise')
    await this.sandbox.git(clone, 'commit', '--quiet', '--message', 'change')
    return this.sandbox.git(clone, 'rev-parse', 'HEAD')
  }

  async remove(): Promise<void> {
    this.sandbox.remove()
    await this.#schema?.remove()
  }
}
