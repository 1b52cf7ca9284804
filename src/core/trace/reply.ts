import type { Json } from '../model/json.ts'
import { Unknown, type Answer } from './answer.ts'

/** A value as JSON; otherwise the sorted reasons for which it is not known. */
export type Reply = { value: Json } | { unknown: string[] }

/** An answer as it is shown. */
export function reply(answer: Answer<unknown>): Reply {
  return answer instanceof Unknown ? { unknown: [...answer.reasons] } : { value: answer as Json }
}
