/** Common parts of the programs that run worlds of the tests for long. */
import { parseArgs } from 'node:util'

/**
 * Parses options: numbers with their defaults, which are whole and from 1, flags and texts.
 *
 * @throws Error for another option or value
 */
export function parseOptions<
  Numeric extends string,
  Flag extends string = never,
  Text extends string = never,
>(
  defaults: Record<Numeric, number>,
  flags: Flag[] = [],
  texts: Text[] = [],
): Record<Numeric, number> & Record<Flag, boolean> & Partial<Record<Text, string>> {
  const isFlag = (name: string) => flags.some((flag) => flag === name)
  const names = [...Object.keys(defaults), ...flags, ...texts]
  const { values } = parseArgs({
    options: Object.fromEntries(
      names.map((name) => [name, { type: isFlag(name) ? 'boolean' : 'string' } as const]),
    ),
  })
  const numbers = Object.entries<number>(defaults).map(([name, usual]) => {
    const number = Number(values[name] ?? usual)
    if (Number.isInteger(number) && number > 0) return [name, number] as const
    throw new Error(`expected --${name} to be a whole number from 1, got "${values[name]}"`)
  })
  const unset = flags.map((flag) => [flag, false] as const)
  // The types of parseArgs lose the names.
  return { ...Object.fromEntries(unset), ...values, ...Object.fromEntries(numbers) } as never
}

/** Chooses the value that an option names; undefined without the option. */
export function choose<Value extends string>(
  values: readonly Value[],
  name: string | undefined,
): Value | undefined {
  const found = values.find((value) => value === name)
  if (found === undefined && name !== undefined)
    throw new Error(`expected one of ${values.join(', ')}, got "${name}"`)
  return found
}

/** Prints how often each thing happened, sorted by name. */
export function printCounts(counts: Iterable<[what: string, times: number]>): void {
  for (const [what, times] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(times).padStart(9)}  ${what}`)
}

/** Prints violations, which end the program with 1, and what was run. */
export function reportViolations(violations: string[], what: string): void {
  for (const violation of violations) console.error(`violation: ${violation}`)
  console.log(`\n${what} in ${describeSeconds()}: ${violations.length} violations`)
  if (violations.length > 0) process.exitCode = 1
}

/** Describes how long this program has run. */
export function describeSeconds(): string {
  return `${(performance.now() / 1000).toFixed(1)} s`
}
