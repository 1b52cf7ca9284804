/** A page that was built. */
export interface BuiltPage {
  /** Formats it with the navigation bar of a server. */
  format(nav: string): string
  /** ISO 8601. */
  at: string
  commit: string | null
  /** Revision of what it was built from. */
  revision: string
  /** Revision of the drift check that it was made with; absent where that does not matter. */
  drift?: string
}
