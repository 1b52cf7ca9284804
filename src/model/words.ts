/** Formats a count with its noun: `1 write`, `2 writes`. */
export function pluralize(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** Lists the first names, and the number of the rest: `a, b, c and 2 more`. */
export function listSome(names: string[], max = 3): string {
  const rest = names.length - max
  return rest > 0 ? `${names.slice(0, max).join(', ')} and ${rest} more` : names.join(', ')
}

/** Formats a length of time in hours and minutes. */
export function formatLength(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours === 0) return `${rest} min`
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`
}
