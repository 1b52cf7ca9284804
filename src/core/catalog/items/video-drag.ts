import { isObject } from '../../model/json.ts'
import type { ItemRow } from '../item-spec.ts'

/** Seeking in videos; turning both kinds off unsets it (specification, "video_drag"). */
export const videoDrag: ItemRow = {
  group: 'combined',
  unset: (state) => {
    const last = state.candidates.at(-1)
    const before = last !== undefined && isObject(last) ? last : {}
    return {
      url: before['url'] ?? '.*',
      start: before['start'] ?? 'start',
      end: before['end'] ?? 'end',
      mp4: 'off',
      flv: 'off',
    }
  },
}
