import type { Json } from '../../model/json.ts'

/** A request as the routes see it; no socket is needed to make one. */
export interface EmulatorRequest {
  method: string
  /** As sent, without the query. */
  path: string
  /** As sent, without the `?`. */
  query: string
  contentType: string | undefined
  contentEncoding: string | undefined
  body: Uint8Array | 'too large'
  /** Address of the other side. */
  peer: string
  /** Wall clock, in milliseconds. */
  arrivedAt: number
}

export interface EmulatorAnswer {
  status: number
  headers: Record<string, string>
  body: Json | JsonText
  /** How the answer gets to the other side, where that is not as it should. */
  delivery?: 'reset' | 'truncated' | 'not-json'
}

/** JSON that was written as text already. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The largest body that is read, in bytes. */
export const maxBodyBytes = 1024 * 1024
