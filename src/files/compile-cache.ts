import { createRequire } from 'node:module'
import { attempt, makeCacheFolder } from './cache-folder.ts'

/**
 * Lets Node keep the code that it compiles in the user's cache, where Node can (from 22.1). The
 * cache is code, so its folder is one that no checkout can bring.
 */
export function useCompileCache(
  args: readonly string[],
  env: Record<string, string | undefined>,
): void {
  const { enableCompileCache } = createRequire(import.meta.url)('node:module') as {
    enableCompileCache?(folder: string): unknown
  }
  if (enableCompileCache === undefined || args.includes('--no-cache')) return
  const folder = attempt(() => makeCacheFolder(env, 'code'))
  if (folder !== null) enableCompileCache(folder)
}
