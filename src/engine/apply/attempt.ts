import type { Write, Form } from '../../core/model/change.ts'
import type { Domain, ItemKey, Value } from '../../core/model/item.ts'
import { isNotAccepted } from '../../core/model/outcome.ts'
import { listSecrets, type SecretPort } from '../../core/model/secret.ts'
import type { RecordedItem } from '../../state/store/store.ts'
import type { Settlement, Run } from './run.ts'
import { withConfirmed, withIntents, type Recording } from './record-outcome.ts'
import { sendWrite, type Sent } from './send-write.ts'
import { markLate } from './settling.ts'
import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { restoreShape, type ItemSpec } from '../../core/catalog/item-spec.ts'
import { parseItem } from '../../core/catalog/parse-item.ts'
import { isSameJson, getOwn, type Json } from '../../core/model/json.ts'

type Items = ReadonlyMap<ItemKey, RecordedItem>

/** Outcome of a write. */
interface Attempted extends Sent {
  /** Whether it proves that the service saved nothing of the write. */
  isUnsaved: boolean
  /** Items that the service rewrote. */
  rewritten: ItemKey[]
}

/**
 * Sends a write whose intent is recorded, and records its outcome.
 *
 * @param before state before the write
 * @param unsaved state if the service saved nothing of it
 * @param settle writes of the plan that the outcome completes, and the change of the counts
 */
export async function attempt(
  write: Write,
  before: ReadonlyMap<Domain, Items>,
  unsaved: ReadonlyMap<Domain, Items>,
  run: Run,
  settle: (outcome: Sent['outcome'], isUnsaved: boolean) => Settlement,
): Promise<Attempted> {
  const wasCalled = run.called.has(write.id)
  const sent = await send(write, run)
  const { outcome, doubted } = sent
  const isBlocked = outcome.kind === 'refused' && isNotAccepted(outcome)
  if (doubted || (outcome.kind !== 'not sent' && !isBlocked)) run.result.sent = true
  else if (!wasCalled) run.called.delete(write.id)
  // By the specification an invalid item refuses the whole write; a bad domain is undefined.
  // Unless no call is accepted, a refusal proves that nothing was saved only if the write had one
  // domain.
  const isUnsaved =
    !doubted &&
    (outcome.kind === 'not sent' ||
      isBlocked ||
      (outcome.kind === 'refused' && write.domains.length === 1))
  const getItemsBefore = (domain: Domain): Items => before.get(domain) ?? new Map()
  // Each earlier attempt was given time to take effect before the last one.
  const isAnswered = outcome.kind === 'confirmed' || outcome.kind === 'refused'
  const recording: Recording = {
    ...createRecording(run),
    ...(isAnswered ? { answered: true } : {}),
  }
  const listRecorded = (item: ItemKey) =>
    write.domains.flatMap((domain) => getItemsBefore(domain).get(item)?.candidates ?? [])
  const returned =
    outcome.kind === 'confirmed'
      ? findRewritten(write.items, outcome.config, listRecorded, run.secrets)
      : {}
  const computeItems = (domain: Domain): Items => {
    if (isUnsaved) return unsaved.get(domain) ?? new Map()
    const old = getItemsBefore(domain)
    const items =
      outcome.kind === 'confirmed'
        ? withConfirmed(old, write.items, returned, recording, domain)
        : withIntents(old, write.items, recording, domain)
    return markLate(domain, items, old, run.now(), run)
  }
  await recordItems(write, run, computeItems, settle(outcome, isUnsaved))
  return { ...sent, isUnsaved, rewritten: Object.keys(returned) }
}

/** Sends a write, notes that it was called, and reports its waits. */
function send(write: Write, run: Run): Promise<Sent> {
  return sendWrite(write, {
    ...run,
    client: {
      write: (domains, config, secrets) => {
        run.called.add(write.id)
        return run.client.write(domains, config, replacesSecret(write, run) ? null : secrets)
      },
      unset: (domains, items) => {
        run.called.add(write.id)
        return run.client.unset(domains, items, replacesSecret(write, run) ? null : [])
      },
    },
    onWait: (ms, message) =>
      run.report({
        type: 'write.waiting',
        id: write.id,
        seconds: Math.ceil(ms / 1000),
        message,
      }),
  })
}

/** Tests whether a recorded value that a write replaces has another secret. */
function replacesSecret({ domains, items }: Write, { recorded }: Run): boolean {
  const own = listSecrets(Object.values(items).map(({ payload }) => payload))
  const before = domains.flatMap((domain) =>
    Object.keys(items).flatMap((item) => recorded.get(domain)?.get(item)?.candidates ?? []),
  )
  return [...listSecrets(before)].some((secret) => !own.has(secret))
}

/** Records items of each domain of a write durably, with the writes that are completed. */
export async function recordItems(
  write: { domains: Domain[] },
  run: Run,
  computeItems: (domain: Domain) => Items,
  { writes, moves }: Settlement,
): Promise<void> {
  const touched = new Map(write.domains.map((domain) => [domain, new Map(computeItems(domain))]))
  await run.recordOutcomes({ writes, moves, domains: touched })
  for (const [domain, items] of touched) run.recorded.set(domain, items)
  run.sharing.schedule()
}

/** Returns the time and the apply of what is recorded now. */
export function createRecording(run: Run): Recording {
  const serviceMs = run.serviceNow()
  return {
    recordedAt: run.time(),
    serviceAt: serviceMs === null ? undefined : new Date(serviceMs).toISOString(),
    apply: run.apply,
    secrets: run.secrets,
    itemKeys: run.itemKeys,
    listWritten: run.listWritten,
  }
}

/**
 * Finds the returned values that the service rewrote, without their secrets. Values are compared in
 * canonical form, in the shape in which they are written.
 *
 * @param listRecorded lists recorded values of an item, which may have secrets that were not sent
 */
export function findRewritten(
  forms: Record<ItemKey, Form>,
  returned: Record<ItemKey, Json>,
  listRecorded: (item: ItemKey) => Value[],
  secrets: Pick<SecretPort, 'recognize' | 'maskAnswer'>,
): Record<ItemKey, Value> {
  const differing = Object.entries(forms).flatMap(([item, { payload }]) => {
    const raw = getOwn(returned, item)
    if (raw === undefined) return []
    const models = [payload, ...listRecorded(item)]
    const spec = getItemSpec(item)
    if (spec.answerForm?.matches(payload, secrets.recognize(item, raw, models)) === true) return []
    const answer = restoreShape(spec, raw, payload)
    return isSameAsSent(spec, payload, secrets.recognize(item, answer, models))
      ? []
      : [[item, secrets.maskAnswer(item, answer, models)] as const]
  })
  return Object.fromEntries(differing)
}

function isSameAsSent(spec: ItemSpec, payload: Json, answer: Json): boolean {
  if (isSameJson(answer, payload)) return true
  const parsed = parseItem(spec, answer, 'manifest')
  const sent = spec.canonicalize(payload)
  return (
    isSameJson(parsed.payload, payload) || (parsed.value !== null && isSameJson(parsed.value, sent))
  )
}
