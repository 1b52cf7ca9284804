/** A text shared by several machines, changed by compare-and-swap only. */
export interface Register {
  /** Its location, for messages. */
  readonly location: string
  /** Reads the text and its version; a null text if none was stored, or it was removed. */
  read(): Promise<{ version: string | null; text: string | null }>
  /**
   * Stores another text (null removes it) if the version is unchanged; returns the new version, or
   * null if it has changed.
   */
  compareAndSwap(version: string | null, text: string | null): Promise<string | null>
}
