import type { Declaration } from './parse-document.ts'

type ProfileList = Declaration['profiles']

/** Lists of profiles, each once: manifests with equal lists share theirs. */
export class ProfileLists {
  readonly #lists = new Map<string, ProfileList>()

  /** Returns the first list that equals this one. */
  share(list: ProfileList): ProfileList {
    const key = JSON.stringify(list)
    const first = this.#lists.get(key)
    if (first === undefined) this.#lists.set(key, list)
    return first ?? list
  }
}
