// Made by `npm run generate` from schemas/state. Do not edit.
import type { Json } from '../model/json.ts'

export type Value = Json
/**
 * An instant. ISO 8601.
 */
export type Time = string
/**
 * An instant, or null. ISO 8601.
 */
export type TimeOrNull = (string | null)
/**
 * Names of domains.
 *
 * Items: Name of a domain.
 */
export type Domains = string[]

/**
 * Service that a state belongs to: <id>/addresses/<address>.json. The file has no format field.
 */
export interface AddressFile {
/**
 * Id of the workspace.
 */
id: string
/**
 * Address of the service, or "emulator".
 */
address: string
}
/**
 * Recent calls of an account: budget/<address>/<account>.json.
 */
export interface CallsFile {
/**
 * Format and version. A newer version is refused.
 */
format: "edgewise.budget/1"
/**
 * Id of the apply that wrote the file.
 */
apply: string
/**
 * Calls of the last minute.
 */
calls: Call[]
}
/**
 * One call, by the time at which it ended or may end at the latest.
 */
export interface Call {
/**
 * Wall clock, ms since 1970.
 */
at: number
/**
 * Boot of the machine; empty when the system does not report it.
 */
boot: string
/**
 * Time since that boot, ms.
 */
up: number
}
/**
 * State of one domain: <id>/<address>/domains/<hash>/<domain>.json.
 */
export interface DomainFile {
/**
 * Format and version. A newer version is refused.
 */
format: "edgewise.record/1"
/**
 * Name of the domain. The name of the file follows from it.
 */
domain: string
/**
 * Item → state.
 */
items: {
[k: string]: ItemState
}
}
/**
 * State of one item of one domain: what the service holds as far as Edgewise knows.
 */
export interface ItemState {
/**
 * Confirmed: the service holds the one candidate. In-doubt: it may hold any candidate. Unset: the documented way back to "unset" was confirmed; a candidate is what the service holds after it.
 */
status: ("confirmed" | "in-doubt" | "unset")
/**
 * The values that the service may hold. One when confirmed, at most one when unset, at least one when in-doubt unless "unknown" is true.
 */
candidates: Value[]
at: Time
/**
 * Id of the apply or import that recorded it.
 */
apply: string
/**
 * Whether Edgewise wrote the value or imported it.
 */
origin: ("write" | "import")
/**
 * True: the service may also hold a value that was never recorded, or nothing. In-doubt only.
 */
unknown?: boolean
/**
 * Present when only the intent of a write is recorded, so that the time of its last call is not known.
 */
open?: true
returned?: Value
/**
 * Origin of each secret in the value, by fingerprint.
 */
templates?: {
/**
 * Name of the secret, or a template around names such as "Bearer ${secret:token}".
 */
[k: string]: string
}
}
/**
 * One apply: <id>/<address>/journal/<apply>.json.
 */
export interface JournalFile {
/**
 * Format and version. A newer version is refused.
 */
format: "edgewise.journal/1"
/**
 * Id of the apply. The name of the file follows from it.
 */
id: string
startedAt: Time
endedAt: TimeOrNull
/**
 * Commit of the workspace; null when it had none.
 */
commit: (string | null)
/**
 * User who started the apply; null when not known.
 */
author: (string | null)
/**
 * Number of writes by outcome.
 */
writes: {
/**
 * Writes that the service confirmed.
 */
confirmed: number
/**
 * Writes that the service refused.
 */
refused: number
/**
 * Writes whose effect is not known.
 */
inDoubt: number
/**
 * Writes that were not sent.
 */
notSent: number
}
/**
 * How the apply ended; "unfinished" while it runs, or when its process was killed.
 */
outcome: ("unfinished" | "complete" | "incomplete" | "interrupted")
/**
 * Writes whose outcome is recorded. Empty once the apply has ended.
 *
 * Items: Number of a write.
 */
settled: number[]
}
/**
 * Holder of the lock of an account: text of refs/edgewise/lock/<address>/<account>, or lock/<address>/<account>/<n>.json in a folder. The text has no format field.
 */
export interface LockFile {
/**
 * Unique name of this lease.
 */
token: string
/**
 * User and machine.
 */
who: string
/**
 * Command that holds the lock.
 */
reason: string
since: Time
/**
 * Boot of the machine; empty when the system does not report it.
 */
boot: string
/**
 * Process namespace within which "pid" is valid; empty when the system does not report it.
 */
namespace: string
/**
 * Process id.
 */
pid: number
/**
 * Heartbeat; the text changes with it.
 */
beat: number
}
/**
 * Marks an apply that has not ended: <id>/<address>/open/<apply>.json.
 */
export interface OpenFile {
/**
 * Format and version. A newer version is refused.
 */
format: "edgewise.open/1"
/**
 * Id of the apply.
 */
apply: string
}
/**
 * File of "plan --out", as "apply PLANFILE" reads it. schemas/output/plan.schema.json describes all that is written.
 */
export interface PlanFile {
/**
 * Format and version. A newer version is refused.
 */
format: "edgewise.plan/1"
/**
 * Changes. They must equal those of a new plan.
 *
 * Items: One item of one domain.
 */
changes: {
/**
 * Name of the domain.
 */
domain: string
/**
 * Name of the item in manifests.
 */
item: string
/**
 * What happens to the item.
 */
action: ("set" | "change" | "unset" | "release")
/**
 * Why. Cleared: another desired item empties this one.
 */
reason: ("differs" | "in-doubt" | "cleared")
/**
 * The desired item that empties this one.
 */
by?: string
before: Value
after: Value
/**
 * Patch (RFC 6902) from before to after.
 *
 * Items: One operation.
 */
patch: {
/**
 * Kind of operation.
 */
op: ("add" | "remove" | "replace")
/**
 * JSON pointer (RFC 6901) within the value.
 */
path: string
value?: Value
}[]
}[]
/**
 * Writes in their order. They must equal those of a new plan.
 *
 * Items: One call.
 */
writes: {
/**
 * Place in the plan, from 1.
 */
id: number
/**
 * Number of the wave, from 1.
 */
wave: number
/**
 * Domains of the call.
 *
 * @minItems 1
 *
 * Items: Name of a domain.
 */
domains: string[]
/**
 * Exactly what is sent, by wire name.
 */
config: {
[k: string]: Value
}
/**
 * Item → form of the write.
 */
forms: {
/**
 * Form.
 */
[k: string]: "replace" | "append" | "add" | "remove" | "switch" | "unset"
}
}[]
/**
 * What the plan rests on.
 */
basis: {
/**
 * Domain → hash of the desired configuration.
 */
desired: {
/**
 * Hash.
 */
[k: string]: string
}
/**
 * Domain → hash of the state.
 */
recorded: {
/**
 * Hash.
 */
[k: string]: string
}
/**
 * Patterns of --target; not used by apply.
 *
 * Items: A pattern.
 */
target?: string[]
/**
 * Items of --item; absent when the plan is about all items.
 *
 * Items: Name of an item.
 */
items?: string[]
/**
 * Commit of the workspace; not used by apply.
 */
commit?: (string | null)
}
/**
 * What made the writes.
 */
planner: {
/**
 * Version of the planner. Another version is refused.
 */
version: number
/**
 * Effort of the search for fewer writes.
 */
effort: ("quick" | "normal" | "thorough")
}
/**
 * Counts for the reader; not used by apply.
 */
summary?: {

}
/**
 * Warnings for the reader; not used by apply.
 *
 * Items: A sentence.
 */
warnings?: string[]
/**
 * Reasons of the writes (--explain-writes); not used by apply.
 */
explanation?: {

}
}
/**
 * A rollout that is open, or has domains on hold: <id>/<address>/rollouts/<rollout>.json.
 */
export interface RolloutFile {
/**
 * Format and version. A newer version is refused.
 */
format: "edgewise.rollout/1"
/**
 * Id of the rollout. The name of the file follows from it.
 */
id: string
startedAt: Time
/**
 * Commit of the workspace; null when it had none.
 */
commit: (string | null)
/**
 * User who began the rollout; null when not known.
 */
author: (string | null)
/**
 * Open, stopped, being rolled back, or rolled back.
 */
state: ("open" | "stopped" | "taking-back" | "taken-back")
/**
 * Why the rollout is over; null while it is open.
 */
reason: (string | null)
/**
 * The items that were chosen; empty when all are meant.
 *
 * Items: Name of an item.
 */
items: string[]
/**
 * Domain → hash of its desired configuration. Every domain of the rollout is listed.
 */
asked: {
/**
 * Hash.
 */
[k: string]: string
}
held: Domains
/**
 * The waves in their order.
 *
 * @minItems 1
 *
 * Items: One wave.
 */
waves: {
domains: Domains
/**
 * From before the first write of the wave to after its last outcome; null before the wave began.
 */
applied: ({
from: Time
to: TimeOrNull
} | null)
/**
 * Whether the next wave may begin.
 */
passed: boolean
}[]
released: Domains
/**
 * Applies of the rollout, first to last.
 *
 * Items: Id of an apply.
 */
applies: string[]
}
/**
 * Intents of one wave of an apply, recorded before its first call: <id>/<address>/waves/<apply>/<wave>.json.
 */
export interface WaveFile {
/**
 * Format and version. A newer version is refused.
 */
format: "edgewise.wave/1"
/**
 * Domain → state of its items before the wave.
 */
before: {
/**
 * Item → state.
 */
[k: string]: {
/**
 * State before the wave; null when none was recorded.
 */
[k: string]: null | ItemState
}
}
/**
 * Number of a write → domain → state of its items until the outcome is recorded.
 */
intents: {
/**
 * Domain → state of its items.
 */
[k: string]: {
/**
 * Item → state.
 */
[k: string]: {
[k: string]: ItemState
}
}
}
}
