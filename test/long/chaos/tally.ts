/** What a run has done and found. */
export class Tally {
  /** Applies started, and how they ended without disturbance or despite of it. */
  applies = 0
  killed = 0
  suspended = 0
  crashed = 0
  shutDown = 0
  cut = 0
  /** Answers lost of transactions that had taken effect. */
  lost = 0
  /** Back-ups restored while nothing ran, and the items of them that were untrue then. */
  restored = 0
  setBack = 0
  /** Comparisons of the state of a workspace with its service. */
  comparisons = 0
  /** Items that these found in-doubt. */
  inDoubt = 0
  calls = 0
  /** Windows of a call rate: those that begin with a call. */
  windows = 0
  /** Domains that two workspaces wanted. */
  contested = 0
  seconds = 0
  readonly faults: string[] = []

  /** Adds what was found, with the place. */
  blame(where: string, faults: string[]): void {
    this.faults.push(...faults.map((fault) => `${where}: ${fault}`))
  }

  /** Describes the figures in one line. */
  describe(): string {
    return (
      `${this.seconds} s: ${this.applies} applies, ${this.killed} killed, ` +
      `${this.suspended} suspended; server: ${this.crashed} killed, ${this.shutDown} shut down, ` +
      `${this.cut} connections cut, ` +
      `${this.lost} answers lost, ${this.restored} back-up restored with ${this.setBack} untrue ` +
      `items; ${this.calls} calls, ${this.windows} windows, ` +
      `${this.comparisons} comparisons with ${this.inDoubt} items in-doubt, ` +
      `${this.contested} contested domains; ${this.faults.length} violations`
    )
  }
}
