/** Exit codes; part of the public interface. */
export const exitCodes = { done: 0, failed: 1, differences: 2, incomplete: 3 } as const

/** Exit codes after a signal; part of the public interface. */
export const signalCodes = { SIGINT: 130, SIGTERM: 143 } as const

type ExitCode =
  | (typeof exitCodes)[keyof typeof exitCodes]
  | (typeof signalCodes)[keyof typeof signalCodes]

/** Meaning of each exit code, and the results that end with it. */
export const exitCodeMeanings: Record<ExitCode, { meaning: string; results: string[] }> = {
  0: {
    meaning: 'Done.',
    results: [
      '`plan`, without `--detailed-exitcode` also with changes. With it: no changes, or ' +
        'conditional ones only.',
      '`drift`: no differences. `fmt --check`: all files are formatted.',
      '`apply`, `rollback`, `drift --repair`: everything planned is confirmed, or nothing was ' +
        'to do.',
      '`apply`: the rollout stopped before a wave that needs approval, or is paused.',
    ],
  },
  1: {
    meaning: 'Failed before a write was sent, or the service accepted no call.',
    results: [
      'Any error that has a [code](errors.md), except `rollback-unfinished`: wrong usage, ' +
        'invalid manifests, a path or target that matches nothing, a missing token or secret, ' +
        'the lock, a guard, a stale plan.',
      'Every call was answered with 401, 403 or 404, and nothing is in-doubt.',
      'The output could not be written.',
    ],
  },
  2: {
    meaning: 'There are differences.',
    results: [
      '`plan --detailed-exitcode`: changes other than conditional ones, or an unfinished rollback.',
      '`drift`: pending, in-doubt, live or unreadable items.',
      '`fmt --check`: a file is not formatted.',
    ],
  },
  3: {
    meaning: 'A write was sent, and not everything is confirmed.',
    results: [
      'A write was refused, is in-doubt, or was not sent because the apply stopped.',
      'A health check failed: the rollout was stopped or rolled back.',
      'An earlier rollback is unfinished (`rollback-unfinished`).',
      'Outcomes could not be recorded or pushed.',
      '`prefetch --wait`: some tasks failed.',
    ],
  },
  130: {
    meaning: 'Interrupted by Ctrl-C (SIGINT).',
    results: ['Calls in flight were finished and recorded. A second Ctrl-C ends at once.'],
  },
  143: {
    meaning: 'Interrupted by SIGTERM.',
    results: ['As after Ctrl-C.'],
  },
}
