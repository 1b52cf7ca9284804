import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { findFolderState, openInFolder } from '../folder/open-folder-store.ts'
import { findRepository } from '../git/find-repository.ts'
import { findConfigured, openInRepository } from '../git/open-git-store.ts'
import { storeOpeners } from '../stores.ts'
import type { OpenState, StateEnvironment, StateLocation } from './store-opener.ts'

/**
 * Opens the state of a workspace: in git if the workspace is in a repository and configures no
 * other store, else in a folder.
 *
 * @throws EdgewiseError `usage` if the choice is ambiguous, `unavailable` if git is configured and
 *   cannot be used
 */
export async function openState(place: StateLocation, world: StateEnvironment): Promise<OpenState> {
  const { store } = place.state
  if (store !== null) return storeOpeners[store](place, world)
  const git = findRepository(place.root) === null ? null : await findConfigured(place, world)
  if (git === null) return openInFolder(place, world)
  const folder = await findFolderState(place, world)
  if (folder === null) return openInRepository(place, world, git)
  throw new EdgewiseError(
    'usage',
    `the folder ${folder} already has the state of "${place.id}", but in a git repository ` +
      'the default store is git',
    '"state: {store: dir}" in edgewise.yaml keeps that state. "state: {store: git}" begins ' +
      'with empty state, for which the next plan has every item as new.',
  )
}
