import type { ErrorCode } from './edgewise-error.ts'

/** Explanation of a code for the reference: what happened, and what to do. */
export interface CodeDescription {
  happened: string
  remedy: string
}

/** What each error code means. The message of an error has the details, its hint the next step. */
export const errorDescriptions: Record<ErrorCode, CodeDescription> = {
  usage: {
    happened: 'The command line, an environment variable or a named file is wrong.',
    remedy: 'Correct it; `edgewise help COMMAND` lists arguments and options.',
  },
  invalid: {
    happened: 'The workspace, or a file to import, has problems.',
    remedy: 'Correct every problem: `edgewise validate` lists them with file and line.',
  },
  'not-a-workspace': {
    happened: 'There is no `edgewise.yaml` in the folder, nor in a folder above it.',
    remedy: 'Pass the folder of the workspace with `-C`, or create one with `edgewise init`.',
  },
  access: {
    happened:
      'The token, the address of the database or the value of a secret is missing, the token has ' +
      'blanks or line breaks, or the service denies the token a query. Nothing was sent.',
    remedy:
      'Set the variable that `service.token` or `state.url` names, or provide the secret by its ' +
      'source under `secrets`. For a query, ask the operator of the service for the permission.',
  },
  'record-damaged': {
    happened: 'A file of state, or of the emulator, can not be used.',
    remedy:
      'Restore it from another clone or a backup, or use the version of Edgewise that wrote it, ' +
      'as the message advises.',
  },
  'record-unreachable': {
    happened:
      'The remote or the database that has the state does not answer, or refuses the login or ' +
      'the write.',
    remedy: 'Follow the advice of the message: network, credentials, or the right to write.',
  },
  'record-moved': {
    happened: 'Another command wrote the same state, or its folder was moved, meanwhile.',
    remedy: 'Run the same command again, when no other one changes the state.',
  },
  'state-rewound': {
    happened:
      'The branch of state was set back or deleted at the remote, or the tables of state were ' +
      'restored from a back-up.',
    remedy:
      'Restore the newer state, or accept the older one, with a command that the message prints. ' +
      'Protect the branch.',
  },
  'stale-plan': {
    happened:
      'The plan file is not what the workspace would plan now: manifests, state or settings ' +
      'changed since, or the file was altered.',
    remedy: 'Make a new plan with `edgewise plan --out FILE`, review it, and apply that.',
  },
  locked: {
    happened: 'Another command changes the same state.',
    remedy:
      'Wait, also with `--lock-timeout SECONDS`. If its process has ended, remove the lock with ' +
      '`edgewise state unlock`.',
  },
  declined: {
    happened: 'The question was answered with no, could not be asked, or was interrupted.',
    remedy: 'Without a terminal pass `--yes`, or apply a saved plan.',
  },
  guarded: {
    happened:
      'A guard, a freeze window or a destructive change forbids the plan. Nothing was sent.',
    remedy:
      'Apply less with `--target`, wait until the freeze ends, or allow it: `--force` overrides ' +
      '`maxDomains` and `maxChanges`, `--allow ITEM` allows destructive changes of an item.',
  },
  'local-state': {
    happened: 'State is in a folder of the checkout of a CI job, and would be deleted with it.',
    remedy:
      'Store state in git, in a database, or in a folder outside of the checkout. If the ' +
      'checkout is kept, pass `--allow-local-state`.',
  },
  'owned-elsewhere': {
    happened: 'Another workspace of the same store has state of the domain.',
    remedy:
      'Remove the domain from the manifests here, or hand it over with `edgewise state move` in ' +
      'the other workspace.',
  },
  'rollout-open': {
    happened: 'An unfinished rollout has changed, or will change, the same domains.',
    remedy:
      'Resume it with `edgewise apply`, end it with `edgewise rollout abort` or `--supersede`, ' +
      'or select other domains with `--target`.',
  },
  'rollback-unfinished': {
    happened: 'The rollback of a rollout has not ended: some of its changes are still live.',
    remedy:
      'Finish it with `edgewise rollback ID`, or apply the manifests over it with `--supersede`. ' +
      'This error has exit code 3.',
  },
  'not-observed': {
    happened: 'What `--observed` names gave no usable configuration.',
    remedy:
      'Pass a file or a program that prints `{"<domain>": {"<item>": payload}}` with items of ' +
      'this workspace.',
  },
  irreversible: {
    happened: 'Nothing that the apply changed can be rolled back.',
    remedy: 'Set the items in the manifests, and apply them.',
  },
  unavailable: {
    happened: 'Something on this machine is missing or fails: git, or a free port.',
    remedy: 'Install or repair it, as the message says.',
  },
  'service-failed': {
    happened: 'A query failed after several attempts, or would have to wait too long.',
    remedy: 'Run the command again later, or raise `limits.maxWaitSeconds`.',
  },
  'service-refused': {
    happened: 'The service refused a query.',
    remedy: 'Correct what its message names, such as a domain that the account does not have.',
  },
  'answer-invalid': {
    happened: 'The service answered a query in a form that its specification does not have.',
    remedy: 'Check `service.url` and `service.timezone`, or ask for less at a time.',
  },
  'plan-unproven': {
    happened: 'The plan would not lead to the desired configuration. Nothing was sent.',
    remedy: 'This is a defect of Edgewise: please report it.',
  },
}
