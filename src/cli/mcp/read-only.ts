import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { createTransport } from '../../operations/runtime/connect.ts'
import type { Outside, Settings } from '../../operations/runtime/parts.ts'
import type { Transport } from '../../service/transport.ts'
import type { Disk } from '../../state/folder/disk.ts'
import { buildGitEnvironment } from '../../state/git/git-environment.ts'
import type { GitRepository } from '../../state/git/git-repository.ts'
import { openGit } from '../../state/git/open-git.ts'
import type { ConnectionPool } from '../../state/postgres/database.ts'
import { restrictPool } from '../../state/postgres/reading-pool.ts'

/**
 * Restricts the outside to what only reads: GET requests, reads of the disk and of the database,
 * and no push of git. There is no cache and no progress.
 */
export function restrictToReading(
  outside: Outside,
  workspace: Settings,
  signal: AbortSignal,
): Outside {
  const { clock, env, random, newId, user, machine, pool, solver, runBlocking } = outside
  const reading = { ...outside, signal }
  return {
    clock,
    env,
    newId: () => newId(),
    random: () => random(),
    user,
    machine,
    signal,
    pool,
    solver,
    runBlocking,
    disk: restrictDisk(outside.disk),
    transport: restrictTransport(reading),
    openGit: async (folder, remote) => restrictGit(await open(reading, workspace, folder, remote)),
    createPool: (config) => restrictPool(() => connectPool(reading, config), refuse),
  }
}

/** Creates the error of an attempt to write. */
function refuse(what: string): EdgewiseError {
  return new EdgewiseError(
    'unavailable',
    `the tools for agents only read; ${what} was refused`,
    'A person runs the command itself, such as "edgewise plan" or "edgewise apply".',
  )
}

function restrictDisk(disk: Disk): Disk {
  const refused = (path: string) => Promise.reject(refuse(`a change of ${path}`))
  return {
    read: (path) => disk.read(path),
    list: (folder) => disk.list(folder),
    exists: (path) => disk.exists(path),
    findLink: async (...given) => (await disk.findLink?.(...given)) ?? null,
    makeFolder: refused,
    create: refused,
    append: refused,
    link: refused,
    sync: refused,
    syncIfThere: refused,
    syncAll: refused,
    rename: refused,
    remove: refused,
  }
}

function restrictTransport(outside: Outside): Transport {
  return async (request) => {
    if (request.body !== undefined || request.method !== undefined)
      throw refuse('a call that is no GET')
    const { origin } = new URL(request.url)
    return (await createTransport(origin, outside))(request)
  }
}

function open(
  { openGit: given, env, clock, signal }: Outside,
  { config, scrub }: Settings,
  folder: string,
  remote: string,
): Promise<GitRepository | null> {
  if (given !== undefined) return given(folder, remote)
  const own = buildGitEnvironment(env, config.service.token)
  return openGit(folder, remote, own, { clock, signal, note: () => undefined, scrub })
}

/** Fetching stores commits in the clone, as "git fetch" does; nothing leaves it. */
function restrictGit(git: GitRepository | null): GitRepository | null {
  return git && { ...git, push: () => Promise.reject(refuse('a push')) }
}

async function connectPool(
  { createPool: given }: Outside,
  config: Parameters<NonNullable<Outside['createPool']>>[0],
): Promise<ConnectionPool> {
  if (given !== undefined) return given(config)
  return (await import('../../state/postgres/create-pool.ts')).createPool(config)
}
