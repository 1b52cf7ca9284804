import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'

/** Tests whether a path is a folder or inside it, with links resolved where they exist. */
export function isInside(folder: string, path: string): boolean {
  const steps = relative(resolveLinks(folder), resolveLinks(path))
  return steps === '' || (steps !== '..' && !steps.startsWith(`..${sep}`) && !isAbsolute(steps))
}

/** Tests whether a real path is a folder or lies below it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** Resolves the links of a path, the end of which need not exist. */
export function resolveLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(resolveLinks(parent), basename(path))
}
