import { cpus, loadavg } from 'node:os'

/** Describes this machine in a line: cores, Node, the load before, and the date. */
export function describeMachine(): string {
  const cores = cpus()
  const [load = 0] = loadavg()
  return (
    `${cores.length} cores (${cores[0]?.model ?? 'unknown'}), Node ${process.versions.node}, ` +
    `load ${load.toFixed(1)}, ${new Date().toISOString().slice(0, 10)}`
  )
}
