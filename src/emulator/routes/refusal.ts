import type { Json } from '../../core/model/json.ts'

/**
 * HTTP status and envelope `code` of every refusal (specification, "Errors"). The specification
 * defines 400101 alone, services beyond it 400209, 400699 and 401001; the others are the emulator's
 * own.
 */
const refusals = {
  'body-malformed': { status: 400, code: 400001 },
  'query-malformed': { status: 400, code: 400002 },
  'domain-invalid': { status: 400, code: 400101 },
  'domains-invalid': { status: 400, code: 400102 },
  'domain-exists': { status: 400, code: 400103 },
  'config-invalid': { status: 400, code: 400201 },
  'item-unknown': { status: 400, code: 400202 },
  'item-invalid': { status: 400, code: 400203 },
  'config-not-list': { status: 400, code: 400209 },
  'time-invalid': { status: 400, code: 400301 },
  'choice-invalid': { status: 400, code: 400302 },
  'interval-exceeded': { status: 400, code: 400303 },
  'request-exceeded': { status: 400, code: 400304 },
  'mode-invalid': { status: 400, code: 400401 },
  'number-invalid': { status: 400, code: 400402 },
  'urls-invalid': { status: 400, code: 400501 },
  'certificate-invalid': { status: 400, code: 400601 },
  'certificate-unknown': { status: 400, code: 400602 },
  'certificate-exists': { status: 400, code: 400699 },
  'control-invalid': { status: 400, code: 400901 },
  'token-missing': { status: 401, code: 401001 },
  'token-wrong': { status: 401, code: 401002 },
  'request-foreign': { status: 403, code: 403001 },
  'url-wrong': { status: 404, code: 404001 },
  'body-too-large': { status: 413, code: 413001 },
  'content-type-unknown': { status: 415, code: 415001 },
  'calls-exceeded': { status: 429, code: 429001 },
  'emulator-failed': { status: 500, code: 500001 },
  'emulator-busy': { status: 503, code: 500003 },
  'fault-wanted': { status: 503, code: 500002 },
} as const

export type RefusalKind = keyof typeof refusals

/** Refusal of a call; ends its handling wherever it is thrown. */
export class Refusal extends Error {
  readonly status: number
  readonly code: number

  /** `status` overrides the HTTP status of the kind. */
  constructor(kind: RefusalKind, message: string, status: number = refusals[kind].status) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.code = refusals[kind].code
  }
}

/** Builds the envelope of a refusal. */
export function buildRefusalBody({ code, message }: Refusal): Json {
  return { code, message }
}
