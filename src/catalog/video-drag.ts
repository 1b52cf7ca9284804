import { isObject } from '../model/json.ts'
import type { ItemRow } from './item-spec.ts'

/** Seeking in videos; both kinds off is its way back (specification, "video_drag"). */
export const videoDrag: ItemRow = {
  group: 'combined',
  unset: (held) => {
    const last = held.candidates.at(-1)
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
