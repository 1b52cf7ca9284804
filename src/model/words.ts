/** A number of things: `1 write`, `2 writes`. */
export function pluralize(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** The first names of a list, and how many more there are: `a, b, c and 2 more`. */
export function listSome(names: string[], max = 3): string {
  const rest = names.length - max
  return rest > 0 ? `${names.slice(0, max).join(', ')} and ${rest} more` : names.join(', ')
}
