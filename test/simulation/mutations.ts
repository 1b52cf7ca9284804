import type { Mutation } from './mutation.ts'

/** Breakages that the simulation has to catch, and within how many seeds it does. */
export const mutations: (Mutation & { seeds: number })[] = [
  {
    name: 'intents are not recorded',
    file: 'src/apply/apply-plan.ts',
    find: 'if (!run.signal.aborted) await store.recordIntents(',
    replace: 'if (run.time() === "") await store.recordIntents(',
    seeds: 200,
  },
  {
    name: 'a write is sent before its intent is shared',
    file: 'src/state/git/git-files.ts',
    find: 'if (this.#git.remote === null) return this.write(steps, message)',
    replace: 'return this.write(steps, message)',
    seeds: 200,
  },
  {
    name: 'what is added is added again when in doubt',
    file: 'src/apply/send-write.ts',
    find: 'if (!repeatable || doubtful >= mostDoubtful)',
    replace: 'if (doubtful >= mostDoubtful)',
    seeds: 300,
  },
  {
    name: 'a call counts from when it was sent',
    file: 'src/service/write/call-budget.ts',
    find: 'if (arrived) this.#spent.ended = lastMinute([...this.#spent.ended, now], now)',
    replace:
      'if (arrived) this.#spent.ended = lastMinute([...this.#spent.ended, this.sent ??= now], now)',
    seeds: 100,
  },
  {
    name: "the calls of another machine count by that machine's clock",
    file: 'src/state/format/calls.ts',
    find: 'return at > here.now - mostSkew ? [here.up] : []',
    replace: 'return [here.up - (here.now - at)]',
    seeds: 200,
  },
  {
    name: 'the calls of earlier processes are forgotten',
    file: 'src/operations/execute-plan.ts',
    find: 'const earlier = [...toUptimes(calls, here()), ...unknown]',
    replace: 'const earlier: number[] = []',
    seeds: 100,
  },
  {
    name: "a lease is judged by the holder's clock",
    file: 'src/state/lock.ts',
    find: 'if (other === null || isDead(other, machine) || clock.monotonic() - since >= leaseMs) {',
    replace:
      'if (other === null || isDead(other, machine) || (clock as any).now() - Date.parse(other.since) >= leaseMs) {',
    seeds: 200,
  },
  {
    name: 'a lease counts from when its beat was answered',
    file: 'src/state/lock.ts',
    find: 'if (next !== null) this.#lastBeat = start',
    replace: 'if (next !== null) this.#lastBeat = momentOf(this.#machine, this.#clock)',
    seeds: 300,
  },
  {
    name: 'a lease goes on while its machine is asleep',
    file: 'src/state/lock.ts',
    find: 'Math.max(now.awake - last.awake, now.all - last.all)',
    replace: '(now.awake - last.awake)',
    seeds: 400,
  },
  {
    name: 'a write is sent without lease left',
    file: 'src/apply/send-write.ts',
    find: 'if ((await sending.leaseLeftMs()) <= sending.timeoutMs) {',
    replace: 'if ((await sending.leaseLeftMs()) === -1) {',
    seeds: 100,
  },
  {
    name: 'what was refused is recorded as confirmed',
    file: 'src/apply/attempt.ts',
    find: 'await keepAs((domain) => unsaved.get(domain) ?? new Map())',
    replace:
      'await keepAs((domain) => withConfirmed(of(domain), write.items, {}, recordingOf(run)))',
    seeds: 100,
  },
  {
    name: 'a refusal of several domains says that nothing was saved',
    file: 'src/apply/attempt.ts',
    find: "(outcome.kind === 'refused' && write.domains.length === 1)",
    replace: "outcome.kind === 'refused'",
    seeds: 1000,
  },
  {
    name: 'a refusal ends the doubt of an earlier attempt',
    file: 'src/apply/attempt.ts',
    find: "!doubted &&\n    (outcome.kind === 'not sent'",
    replace: "(outcome.kind === 'not sent'",
    seeds: 1500,
  },
  {
    name: 'a server error counts as not sent',
    file: 'src/service/write/parse-answer.ts',
    find: 'if (answer.status >= 500) return inDoubt(',
    replace:
      "if (answer.status >= 500) return ((message: string): Outcome => ({ kind: 'not sent', message }))(",
    seeds: 100,
  },
  {
    name: 'a broken connection counts as not sent',
    file: 'src/service/call-failure.ts',
    find: "'ECONNREFUSED',\n  'PROXY_REFUSED'",
    replace: "'ECONNREFUSED',\n  'ECONNRESET',\n  'PROXY_REFUSED'",
    seeds: 200,
  },
  {
    name: 'files take their name before their text is durable',
    file: 'src/state/folder/write-file.ts',
    find: 'await disk.sync(draft)',
    replace: '',
    seeds: 200,
  },
  {
    name: 'names are not made durable',
    file: 'src/state/folder/write-file.ts',
    find: 'for (const folder of folders) await disk.sync(folder)',
    replace: '',
    seeds: 600,
  },
  {
    name: 'nobody waits until what was given up has landed',
    file: 'src/apply/settling.ts',
    find: 'return Math.max(0, ...ends.map((end) => end - now))',
    replace: 'return ends.length * 0 * now',
    seeds: 400,
  },
  {
    name: 'what is in doubt is not written again',
    file: 'src/diff/diff-snapshots.ts',
    find: "if (held?.status === 'confirmed' && isSameJson(before ?? undefined, after)) return null",
    replace: 'if (isSameJson(before ?? undefined, after)) return null',
    seeds: 100,
  },
  {
    name: "a lost race replaces the winner's commit",
    file: 'src/state/git/git-files.ts',
    find: 'view.tip = await git.commit(winner, await this.#own(view.tip), message)\n      view.shared = winner',
    replace: 'view.shared = winner',
    seeds: 500,
  },
]
