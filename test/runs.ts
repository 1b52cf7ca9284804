/** Number of runs of a property: `n`, multiplied in the longer checks. */
export function runs(n: number): number {
  return n * Number(process.env['EDGEWISE_TEST_RUNS'] ?? 1)
}
