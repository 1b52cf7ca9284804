import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { findLinkIn } from './find-link.ts'
import { findCode, findKind } from './look.ts'
import { createKindError, replaceFile, resolveTarget } from './replace-file.ts'
import { appendTo } from './store-file.ts'

/** A file that the user named, to write to. */
export interface Output {
  /** Absolute. */
  path: string
  /** Folder whose links are refused, since a commit can bring them. */
  checkout: string
  /** Identifies this process among those that may write here. */
  temporary: string
}

/** Why an output was not written: a link in the checkout, or a code of the file system. */
export type OutputFault = { link: string } | { code: string }

/** Names of this process's own open files, whatever they lead to. */
const descriptors = new RegExp(`^/(?:dev/fd|proc/(?:self|${process.pid})/fd)/(\\d{1,6})$`)
const named = ['/dev/stdin', '/dev/stdout', '/dev/stderr']

/** Codes for a folder where no draft can be made, and for a file that can't be replaced. */
const unreplaceable = ['EACCES', 'EPERM', 'EROFS', 'EBUSY']

/** Pause before a pipe or device is tried again that takes no more at present, ms. */
const pauseMs = 20

/** Tests whether an output is a pipe, device or socket: what is there can't be replaced. */
export function isStream(path: string): boolean {
  return findDescriptor(path) !== null || findKind(path) === 'stream'
}

/**
 * Writes an output. A regular file is replaced as a whole, or written in place where its folder
 * allows no other. A pipe, device or socket is opened and written to, never replaced. Waits for the
 * reader of a pipe; without one it fails at once.
 *
 * Excludes links that exist when it is called, not those that another process makes meanwhile.
 */
export async function writeOutput(output: Output, text: string): Promise<OutputFault | null> {
  const { path, checkout, temporary } = output
  try {
    const link = findLinkIn(checkout, path)
    if (link !== null) return { link }
    const descriptor = findDescriptor(path)
    if (descriptor !== null) await writeAll(descriptor, text)
    else if (findKind(path) === 'stream') await writeToStream(path, text)
    else writeToFile(resolveTarget(path), text, temporary)
    return null
  } catch (error) {
    return { code: findCode(error) }
  }
}

/** Removes an output of an earlier run. A pipe, device, socket or folder stays. */
export function removeOutput({ path, checkout }: Omit<Output, 'temporary'>): OutputFault | null {
  try {
    const link = findLinkIn(checkout, path)
    if (link !== null) return { link }
    if (!isStream(path) && findKind(path) !== 'folder') rmSync(path, { force: true })
    return null
  } catch (error) {
    return { code: findCode(error) }
  }
}

function findDescriptor(path: string): number | null {
  const index = named.indexOf(path)
  if (index >= 0) return index
  const [, number] = descriptors.exec(path) ?? []
  return number === undefined ? null : Number(number)
}

async function writeToStream(path: string, text: string): Promise<void> {
  if (statSync(path).isSocket()) return sendTo(path, text)
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
  const file = openSync(path, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  try {
    await writeAll(file, text)
  } finally {
    closeSync(file)
  }
}

async function writeAll(file: number, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(file, bytes, written)
    } catch (error) {
      if (findCode(error) !== 'EAGAIN') throw error
      await sleep(pauseMs)
    }
  }
}

/** Sends a text to the listener of a socket. */
function sendTo(path: string, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => socket.end(text))
    socket.on('error', reject)
    // The listener may keep its half of the connection open.
    socket.on('finish', () => {
      socket.destroy()
      resolve()
    })
  })
}

function writeToFile(path: string, text: string, temporary: string): void {
  try {
    replaceFile(path, text, temporary)
  } catch (error) {
    if (!unreplaceable.includes(findCode(error)) || findKind(path) !== 'file') throw error
    writeInPlace(path, text)
  }
}

function writeInPlace(path: string, text: string): void {
  const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants
  const file = openSync(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
  try {
    const status = fstatSync(file)
    if (!status.isFile()) throw createKindError(status.isDirectory())
    ftruncateSync(file)
    appendTo(file, text)
  } finally {
    closeSync(file)
  }
}
