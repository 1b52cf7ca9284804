import { spawn } from 'node:child_process'
import { platform, release } from 'node:os'
import { exists, findFileSystemType } from '../../files/look.ts'

const timeoutMs = 20_000
/**
 * Types of local file systems whose one sync is as durable as that of each file (`statfs`): ext2 to
 * ext4, XFS, Btrfs, F2FS, ZFS, overlay, tmpfs. Others, such as network file systems, only send the
 * files to their server.
 */
const localTypes = [0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x794c7630, 0x01021994]

/**
 * Makes everything in the file system of a folder durable, by the program `sync` of Linux; false if
 * it is not there, reports an error or a warning, or does not end within 20 seconds.
 */
export async function syncFileSystem(folder: string): Promise<boolean> {
  const program = ['/usr/bin/sync', '/bin/sync'].find((path) => exists(path))
  if (
    program === undefined ||
    !reportsErrors() ||
    !localTypes.includes(findFileSystemType(folder) ?? 0)
  )
    return false
  return new Promise((resolve) => {
    const child = spawn(program, ['-f', folder], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] })
    let isClean = true
    const end = (isDone: boolean) => {
      clearTimeout(timer)
      resolve(isDone && isClean)
    }
    // It ends by itself; a signal does not interrupt a sync.
    const timer = setTimeout(() => {
      child.unref()
      child.stderr.destroy()
      end(false)
    }, timeoutMs)
    // Some versions of busybox warn that they ignore the folder.
    child.stderr.on('data', () => {
      isClean = false
    })
    child.on('error', () => end(false))
    child.on('close', (code) => end(code === 0))
  })
}

/** Tests whether the kernel reports files that could not be written: Linux from 5.8 on. */
function reportsErrors(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return platform() === 'linux' && (major > 5 || (major === 5 && minor >= 8))
}
