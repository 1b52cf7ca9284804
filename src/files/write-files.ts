import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { append } from '../core/model/lists.ts'
import { ignoreProgress, type Progress } from '../core/model/parallel.ts'
import { isInside } from './is-inside.ts'
import { attempt, findCode } from './look.ts'

/** A file to write. */
export interface FileToWrite {
  /** Absolute. */
  path: string
  text: string
  /** Text that it has now; null if it must not exist. */
  before: string | null
}

/** Why files were not written. */
export interface WriteFailure {
  path: string
  /**
   * Code of the file system, `CHANGED` if the file has another text than expected, or `OUTSIDE` if
   * its path leads out of the root.
   */
  code: string
  /** Files that were written before, and could not be restored. */
  left: string[]
}

/** A file whose new text is in a draft beside it. */
interface Draft extends FileToWrite {
  target: string
  draft: string
}

/**
 * Writes all files, or none: first drafts of all, then each takes its place. What was written
 * before a failure is removed or restored. A link is followed if its target lies below the root.
 *
 * @param root folder of all files
 * @param temporary identifies this process among those that may write here
 * @param progress gets the number of written drafts and of files that took their place
 * @returns why nothing was written; null if everything was
 */
export function writeFiles(
  root: string,
  files: FileToWrite[],
  temporary: string,
  move: (from: string, to: string) => void = renameSync,
  progress: Progress = ignoreProgress,
): WriteFailure | null {
  const inside = new Set<string>()
  const drafts: Draft[] = []
  const folders: string[] = []
  const published: Draft[] = []
  let path = ''
  try {
    for (const file of files) {
      progress(drafts.length, 2 * files.length)
      path = file.path
      if (!inside.has(dirname(path)) && !isInside(root, dirname(path))) throw createError('OUTSIDE')
      inside.add(dirname(path))
      const first = mkdirSync(dirname(path), { recursive: true })
      if (first !== undefined) append(folders, listFolders(dirname(path), first))
      drafts.push(createDraft(root, file, temporary))
    }
    for (const each of drafts) {
      progress(drafts.length + published.length, 2 * files.length)
      path = each.path
      // Reserves the name: a file that somebody else has created meanwhile stays.
      if (each.before === null) writeFileSync(each.target, '', { flag: 'wx' })
      published.push(each)
      move(each.draft, each.target)
    }
    return null
  } catch (error) {
    const code = findCode(error)
    const left = published
      .toReversed()
      .filter((each) => !restore(each))
      .map((each) => each.path)
    for (const { draft } of drafts) rmSync(draft, { force: true })
    // Somebody else may have put a file there.
    for (const folder of folders) attempt(() => rmdirSync(folder))
    return { path, code, left }
  }
}

/** Lists the folders from one up to one that encloses it, inside first. */
function listFolders(inside: string, first: string): string[] {
  const folders = [inside]
  for (let folder = inside; folder !== first;) folders.push((folder = dirname(folder)))
  return folders
}

function createDraft(root: string, file: FileToWrite, temporary: string): Draft {
  const { path, text, before } = file
  if (before === null && existsSync(path)) throw createError('EEXIST')
  if (before !== null && !isInside(root, path)) throw createError('OUTSIDE')
  const target = before === null ? path : realpathSync.native(path)
  const draft = `${target}.${temporary}.tmp`
  if (before !== null) {
    accessSync(target, constants.W_OK)
    if (readFileSync(target, 'utf8') !== before) throw createError('CHANGED')
  }
  writeFileSync(draft, '', { flag: 'wx' })
  try {
    if (before !== null) chmodSync(draft, statSync(target).mode)
    writeFileSync(draft, text)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  return { ...file, target, draft }
}

/** Removes or restores a file; returns whether it could. */
function restore({ target, before }: Draft): boolean {
  const done = attempt(() => {
    if (before === null) rmSync(target, { force: true })
    else writeFileSync(target, before)
    return true
  })
  return done === true
}

function createError(code: string): Error {
  return Object.assign(new Error(code), { code })
}
