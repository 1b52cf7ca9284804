import type { Json } from '../../core/model/json.ts'

/** A request as the routes see it, independent of sockets. */
export interface EmulatorRequest {
  method: string
  /** Path as sent, without the query. */
  path: string
  /** Query as sent, without the `?`. */
  query: string
  /** By names in lower case. */
  headers: Record<string, string>
  contentType: string | undefined
  contentEncoding: string | undefined
  host: string | undefined
  origin: string | undefined
  /** `Sec-Fetch-Site`, which browsers send. */
  fetchSite: string | undefined
  body: Uint8Array | 'too large'
  /** Address of the client. */
  peer: string
  /** Wall clock, in milliseconds. */
  arrivedAt: number
}

export interface EmulatorAnswer {
  status: number
  headers: Record<string, string>
  body: Json | JsonText
  /** Faulty delivery of the answer, if any. */
  delivery?: 'reset' | 'truncated' | 'not-json'
}

/** JSON that is already formatted as text. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Maximum size of a body, bytes. */
export const maxBodyBytes = 1024 * 1024
