import type { Mutation } from './mutation.ts'

/**
 * Mutations that the simulation has to detect, the number of seeds within which it does, and the
 * seed that did last: it is tried first. A change of the simulated code makes some of these seeds
 * stale; `test/long/mutations.test.ts` prints the new ones.
 */
export const mutations: (Mutation & { seeds: number; found: number })[] = [
  {
    name: 'intents are not recorded',
    file: 'src/apply/intent-batches.ts',
    find: 'await run.store.recordIntents(',
    replace: 'if (run.time() === "") await run.store.recordIntents(',
    seeds: 200,
    found: 31,
  },
  {
    name: 'the writes of a later batch are sent before their intents are recorded',
    file: 'src/apply/intent-batches.ts',
    find: 'number,\n          writes,',
    replace: 'number,\n          index === 0 ? writes : [],',
    seeds: 1000,
    found: 465,
  },
  {
    name: 'a write is sent before its intent is shared',
    file: 'src/state/git/git-files.ts',
    find: 'if (this.#git.remote === null) return this.write(steps, message, guard)',
    replace: 'return this.write(steps, message)',
    seeds: 200,
    found: 41,
  },
  {
    name: 'an in-doubt addition is repeated',
    file: 'src/apply/send-write.ts',
    find: 'if (!repeatable || inDoubtCount >= maxInDoubt)',
    replace: 'if (inDoubtCount >= maxInDoubt)',
    seeds: 300,
    found: 61,
  },
  {
    name: 'a call counts from its start',
    file: 'src/service/write/call-budget.ts',
    find: '[...this.#spent.ended, { time: now, count: 1 }]',
    replace: '[...this.#spent.ended, { time: (this.sent ??= now), count: 1 }]',
    seeds: 100,
    found: 3,
  },
  {
    name: "the calls of another machine count by that machine's clock",
    file: 'src/state/format/calls.ts',
    find: 'const time = offset === undefined ? findSeen(call) : up + offset',
    replace: 'const time = here.up - (here.now - at)',
    seeds: 200,
    found: 149,
  },
  {
    name: 'calls of another machine that were in flight reveal its clock',
    file: 'src/state/format/calls.ts',
    find: "if (isOwn(call) || call.inFlight === true || call.boot === '') continue",
    replace: "if (isOwn(call) || call.boot === '') continue",
    seeds: 4000,
    found: 2564,
  },
  {
    name: 'the calls of earlier processes are forgotten',
    file: 'src/operations/execute-plan.ts',
    find: 'const earlierCalls = [...toUptimes(calls, here()), ...unknownCalls]',
    replace: 'const earlierCalls: number[] = []',
    seeds: 100,
    found: 9,
  },
  {
    name: "a lease is judged by the holder's clock",
    file: 'src/state/lock.ts',
    find:
      'if (other === null || isDead(other, machine) || ' +
      'clock.monotonic() - since >= leaseMs) {',
    replace:
      'if (other === null || isDead(other, machine) || ' +
      '(clock as any).now() - Date.parse(other.since) >= leaseMs) {',
    seeds: 200,
    found: 19,
  },
  {
    name: 'a lease starts with the answer to its heartbeat',
    file: 'src/state/lease.ts',
    find: 'if (next !== null) this.#lastHeartbeat = start',
    replace: 'if (next !== null) this.#lastHeartbeat = readMoment(this.#machine, this.#clock)',
    seeds: 300,
    found: 169,
  },
  {
    name: 'a lease goes on while its machine is asleep',
    file: 'src/state/lease.ts',
    find: 'Math.max(now.monotonicMs - last.monotonicMs, now.uptimeMs - last.uptimeMs)',
    replace: '(now.monotonicMs - last.monotonicMs)',
    seeds: 400,
    found: 57,
  },
  {
    name: 'a write is sent long after the last look at the lock',
    file: 'src/state/lease.ts',
    find: "return this.#measureAge(this.#lastLook) < maxLookAgeMs ? 'clear' : 'look'",
    replace: "return 'clear'",
    seeds: 300,
    found: 4,
  },
  {
    name: 'nobody waits until a revoked holder has noticed',
    file: 'src/state/lock.ts',
    find: 'return findMax(waits, 0)',
    replace: 'return 0 * waits.length',
    seeds: 300,
    found: 4,
  },
  {
    name: 'no doubt mark is left',
    file: 'src/apply/apply-plan.ts',
    find: 'if (result.unrecorded !== null) await markDoubtful(',
    replace: "if (result.unrecorded === '') await markDoubtful(",
    seeds: 7000,
    found: 501,
  },
  {
    name: 'a doubt mark is ignored',
    file: 'src/state/doubt-marks.ts',
    find: 'const domains = findMarkedDoubts(mark, waves, recorded)',
    replace: 'const domains = findMarkedDoubts({ ...mark, writes: [] }, waves, recorded)',
    seeds: 7000,
    found: 501,
  },
  {
    name: 'a write is sent without lease left',
    file: 'src/state/lease.ts',
    find: 'if (leftMs <= callMs) return {',
    replace: 'if (leftMs === -1) return {',
    seeds: 100,
    found: 31,
  },
  {
    name: 'a refused value is recorded as confirmed',
    file: 'src/apply/attempt.ts',
    find: 'await record((domain) => unsaved.get(domain) ?? new Map())',
    replace:
      'await record((domain) => withConfirmed(getItemsBefore(domain), write.items, {}, ' +
      'createRecording(run)))',
    seeds: 100,
    found: 9,
  },
  {
    name: 'a refusal by several domains counts as nothing saved',
    file: 'src/apply/attempt.ts',
    find: "(outcome.kind === 'refused' && write.domains.length === 1)",
    replace: "outcome.kind === 'refused'",
    seeds: 1000,
    found: 340,
  },
  {
    name: 'a refusal settles an in-doubt attempt before it',
    file: 'src/apply/attempt.ts',
    find: "!doubted &&\n    (outcome.kind === 'not sent'",
    replace: "(outcome.kind === 'not sent'",
    seeds: 1500,
    found: 4,
  },
  {
    name: 'a server error counts as not sent',
    file: 'src/service/write/parse-answer.ts',
    find: 'if (answer.status >= 500)\n    return createInDoubt(',
    replace:
      'if (answer.status >= 500)\n    return ' +
      "((message: string): Outcome => ({ kind: 'not sent', message }))(",
    seeds: 100,
    found: 31,
  },
  {
    name: 'a broken connection counts as not sent',
    file: 'src/service/call-failure.ts',
    find: "'ECONNREFUSED',\n  'PROXY_REFUSED'",
    replace: "'ECONNREFUSED',\n  'ECONNRESET',\n  'PROXY_REFUSED'",
    seeds: 200,
    found: 31,
  },
  {
    name: 'changes count before they are durable in the log',
    file: 'src/state/folder/change-log.ts',
    find: 'await disk.sync(log.path)',
    replace: '',
    seeds: 300,
    found: 202,
  },
  {
    name: 'the log is removed before its changes are durable in their files',
    file: 'src/state/folder/change-log.ts',
    find: 'if (!(await disk.syncIfThere(path))) return false',
    replace: '',
    seeds: 600,
    found: 43,
  },
  {
    name: 'no write waits until an abandoned one has settled',
    file: 'src/apply/settling.ts',
    find: 'return findMax(waits, 0)',
    replace: 'return waits.length * 0',
    seeds: 400,
    found: 301,
  },
  {
    name: 'calls of a dead apply land within the settle time',
    file: 'src/apply/settling.ts',
    find: 'Math.max(lateCalls.get(apply)?.landWithinMs ?? 0, timeoutMs + settleMs)',
    replace: 'settleMs',
    seeds: 1000,
    found: 301,
  },
  {
    name: 'any value is sent while a call of a dead apply may land',
    file: 'src/apply/settling.ts',
    find:
      'if (lateEnd !== null && !isRepeated(write, item, state, before, context)) ' +
      'return [lateEnd]',
    replace: 'if (lateEnd !== null && before === undefined) return [lateEnd]',
    seeds: 400,
    found: 301,
  },
  {
    name: 'an in-doubt item is not written again',
    file: 'src/diff/diff-snapshots.ts',
    find:
      "if (state?.status === 'confirmed' && before !== null && " +
      'isSameAtService(spec, before, after))',
    replace: 'if (before !== null && isSameAtService(spec, before, after))',
    seeds: 100,
    found: 3,
  },
  {
    name: 'state that was set back is accepted',
    file: 'src/state/git/shared-tip.ts',
    find: 'for (const commit of [seen, known]) await refuseRewound(git, ref, commit, shared)',
    replace: '',
    seeds: 400,
    found: 107,
  },
  {
    name: "a lost race replaces the winner's commit",
    file: 'src/state/git/git-files.ts',
    find:
      'view.tip = await git.commit(winner, await this.#findOwnChanges(view.tip), message)\n' +
      '      view.shared = winner',
    replace: 'view.shared = winner',
    seeds: 500,
    found: 107,
  },
  {
    name: "health is judged by the runner's clock",
    file: 'src/service/service-time.ts',
    find: 'this.#offsetMs = atMs - this.#clock.monotonic()',
    replace: 'this.#offsetMs = this.#clock.now() - this.#clock.monotonic()',
    seeds: 100,
    found: 4,
  },
  {
    name: 'a wave begins without its approval',
    file: 'src/rollout/approvals.ts',
    find: "if (!isApproved(rollout, waveIndex)) return 'approval'",
    replace: '',
    seeds: 100,
    found: 4,
  },
  {
    name: "a pause is resumed by the runner's clock",
    file: 'src/rollout/wave-times.ts',
    find: 'const now = await time.ask()\n  if (now === null || serviceTo === null) return pauseMs',
    replace: 'const now = clock.now()\n  if (serviceTo === null) return pauseMs',
    seeds: 200,
    found: 168,
  },
]
