/** Units of cache rules with their seconds, the longest first. */
const units: [seconds: number, name: string][] = [
  [31_536_000, 'Y'],
  [2_628_000, 'M'],
  [86_400, 'D'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** Formats seconds in the longest unit in which they are a whole number: `30 D`, `90 s`. */
export function formatSeconds(seconds: number): string {
  const [size, name] = units.find(([each]) => seconds >= each && seconds % each === 0) ?? [1, 's']
  return `${seconds / size} ${name}`
}
