/** A certificate as it is kept; its private key is kept apart, and never written to a file. */
export interface Certificate {
  id: number
  name: string
  /** Text of the certificate, as submitted. */
  certificate: string
}

/** Limits of the certificates of one emulator; lengths in characters. */
export const certificateLimits = { count: 1000, name: 255, text: 65_536 }
