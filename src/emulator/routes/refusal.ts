import type { Json } from '../../model/json.ts'

/**
 * Every way in which the emulator refuses a call: its HTTP status and the `code` of the envelope
 * (specification, "Errors"). The specification states 400101 alone; the other codes are the
 * emulator's own.
 */
const refusals = {
  'body-malformed': { status: 400, code: 400001 },
  'query-malformed': { status: 400, code: 400002 },
  'domain-invalid': { status: 400, code: 400101 },
  'domains-invalid': { status: 400, code: 400102 },
  'config-invalid': { status: 400, code: 400201 },
  'item-unknown': { status: 400, code: 400202 },
  'item-invalid': { status: 400, code: 400203 },
  'time-invalid': { status: 400, code: 400301 },
  'choice-invalid': { status: 400, code: 400302 },
  'interval-exceeded': { status: 400, code: 400303 },
  'request-exceeded': { status: 400, code: 400304 },
  'mode-invalid': { status: 400, code: 400401 },
  'number-invalid': { status: 400, code: 400402 },
  'control-invalid': { status: 400, code: 400901 },
  'token-missing': { status: 401, code: 401001 },
  'token-wrong': { status: 401, code: 401002 },
  'url-wrong': { status: 404, code: 404001 },
  'body-too-large': { status: 413, code: 413001 },
  'content-type-unknown': { status: 415, code: 415001 },
  'calls-exceeded': { status: 429, code: 429001 },
  'emulator-failed': { status: 500, code: 500001 },
  'fault-wanted': { status: 503, code: 500002 },
} as const

type RefusalKind = keyof typeof refusals

/** A call that is refused; ends its handling wherever it is thrown. */
export class Refusal extends Error {
  readonly status: number
  readonly code: number

  /** `status`: where another HTTP status than the usual one is wanted. */
  constructor(kind: RefusalKind, message: string, status: number = refusals[kind].status) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.code = refusals[kind].code
  }
}

/** The envelope of a refusal. */
export function buildRefusalBody({ code, message }: Refusal): Json {
  return { code, message }
}
