import type { StoreName } from '../core/model/config.ts'
import { openInFolder } from './folder/open-folder-store.ts'
import { openInGit } from './git/open-git-store.ts'
import { openInPostgres } from './postgres/open-postgres-store.ts'
import type { StoreOpener } from './store/store-opener.ts'

/** How each store is opened. `src/core/model/stores.ts` says how it is configured. */
export const storeOpeners: Record<StoreName, StoreOpener> = {
  git: openInGit,
  dir: openInFolder,
  postgres: openInPostgres,
}
