/** How often a property is tried: `n` times, and more often in the longer checks. */
export function runs(n: number): number {
  return n * Number(process.env['EDGEWISE_TEST_RUNS'] ?? 1)
}
