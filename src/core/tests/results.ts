import type { Domain, ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Place } from '../model/problem.ts'
import type { Reply } from '../trace/reply.ts'

/** Begin of a text in a file. */
type Start = Pick<Place, 'file' | 'line' | 'column'>

/** A rule, entry or item that decides an answer; without a place it is not set, or in no file. */
export interface DecidingRule extends Partial<Start> {
  item: ItemKey
  /** JSON pointer within the value of the item; empty for the item. */
  pointer: string
  pattern?: string
  /** The manifest or test that uses it, if the text stands in a profile or in the defaults. */
  manifest?: string
}

/** An expectation that is not met, at its place in the test file, and what decides the answer. */
export interface TestFailure extends Start {
  check: 'request' | 'item' | 'plan' | 'emulator' | 'policy' | 'form'
  /** Name of an answer, an item's part, `writes`, `actions`, `emulator`, a policy or a problem. */
  name: string
  domains: Domain[]
  /** Of a request. */
  url?: string
  expected: Json
  got: Reply
  rules: DecidingRule[]
}

/** Result of one test. */
export interface TestResult {
  name: string
  outcome: 'passed' | 'failed'
  file: string
  /** Line of its name, which is found when it is asked for: that parses the file again. */
  readonly line: number
  /** Tested domains of the workspace; none for a configuration of its own. */
  domains: Domain[]
  failures: TestFailure[]
}

/** A change of the manifests that no test fails for. */
export interface Survivor extends Start {
  item: ItemKey
  /** JSON pointer of what changes, within the value of the item. */
  pointer: string
  kind: 'drop' | 'change'
  before: Json
  /** Null if it is dropped. */
  after: Json
  /** Number of domains of the workspace that it changes, and the first of them. */
  domains: number
  /** Number of entries of the list of values for which this stands, this one included. */
  entries: number
  example: Domain | null
}

/** Which changes of the manifests the tests guard against. */
export interface MutationReport {
  /** Changes that were tried, but for those that no request can show. */
  tried: number
  guarded: number
  /** Share of the tried changes, percent; 100 if there is none. */
  share: number
  /** Changes that no test fails for and that no request can show, by proof. */
  ineffective: number
  /** Changes that were not tried because of the limit. */
  left: number
  /** Most dangerous first. */
  survivors: Survivor[]
}

/** Results of tests, in the order of their files. */
export interface Tested {
  results: TestResult[]
  /** Null unless it was asked for, or if a test fails. */
  mutations: MutationReport | null
}
