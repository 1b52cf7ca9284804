import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Creates metrics in one registry. */
export type Instruments = ReturnType<typeof createInstruments>

/** Upper limits of durations and of waits, seconds. */
export const durations = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]

/** Creates the functions that create the metrics of a registry; names begin with `edgewise_`. */
export function createInstruments(registry: Registry) {
  const options = (name: string, help: string, labelNames: string[] = []) => ({
    name: `edgewise_${name}`,
    help,
    labelNames,
    registers: [registry],
  })
  const gauge = (...args: Parameters<typeof options>) => new Gauge(options(...args))
  return {
    gauge,
    counter: (...args: Parameters<typeof options>) => new Counter(options(...args)),
    histogram: (buckets: number[], ...args: Parameters<typeof options>) =>
      new Histogram({ ...options(...args), buckets }),
    /** Creates a gauge without samples until it is set: 0 would be wrong. */
    unknown: (name: string, help: string) => {
      const created = gauge(name, help)
      created.remove()
      return created
    },
  }
}
