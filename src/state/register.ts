/**
 * One text that several machines see, and that changes only if it is still what whoever changes it
 * has seen.
 */
export interface Register {
  /** Where it is, for messages. */
  readonly location: string
  /** Whether looking at it is cheap enough to be done before every write. */
  readonly isLocal: boolean
  /**
   * The text and what names this very state of it; a null text where nothing was put, or it was
   * taken away.
   */
  read(): Promise<{ version: string | null; text: string | null }>
  /**
   * Puts another text (null takes it away) if the version is still the same; gives the new version,
   * or null when it is not.
   */
  compareAndSwap(version: string | null, text: string | null): Promise<string | null>
}
