import type { Domain, ItemKey } from '../model/item.ts'
import type { Expression } from './expression.ts'
import type { Message } from './message.ts'
import type { Level, Subject } from './subject.ts'

/** A policy whose expressions are compiled. */
export interface Policy {
  name: string
  level: Level
  on: Subject
  /** Selects what is judged; null for all. */
  when: Expression | null
  /** True for what is not allowed. */
  deny: Expression
  message: Message
  /** File with the requests that are traced; null unless it judges requests. */
  requests: string | null
}

/** One violation of a policy. */
export interface Violation {
  policy: string
  level: Level
  on: Subject
  /** Null for a plan and a write. */
  domain: Domain | null
  /** The item that the policy looks at, and the pointer within its value; null for none. */
  item: ItemKey | null
  pointer: string
  message: string
  /**
   * Why an expression has no answer, such as a missing key; null if the policy was violated. Such
   * an error counts as a violation: a policy without an answer allows nothing.
   */
  fault: string | null
}
