import { judge, type Row } from './row.ts'

/** Ratios by id, by major version of Node: its start and its speed differ. */
export type KeptRatios = Record<string, Record<string, number>>

/** A ratio may be greater than the kept one by this factor: half of it is noise and machine. */
const tolerance = 1.5

/** Adds the ratios of a run with one version of Node to the kept ones. */
export function keepRatios(kept: KeptRatios, major: number, rows: Row[]): KeptRatios {
  const own = rows.flatMap(({ id, ratio }): [string, number][] =>
    ratio === null ? [] : [[id, Number(ratio.toPrecision(3))]],
  )
  return { ...kept, [major]: Object.fromEntries(own) }
}

/** Compares rows with the ratios kept for the nearest version of Node; returns what is worse. */
export function findWorse(kept: KeptRatios, major: number, rows: Row[]): string[] {
  const nearest = findNearest(kept, major)
  if (nearest === null) return ['no ratios are kept']
  return rows.flatMap((row) => {
    const before = kept[nearest]?.[row.id]
    if (judge(row) === 'not measured' || row.ratio === null) return [`${row.what}: not measured`]
    if (before === undefined) return [`${row.what}: no ratio is kept`]
    if (row.ratio <= before * tolerance) return []
    return [
      `${row.what}: ratio ${row.ratio.toPrecision(3)}, more than ${tolerance} times ` +
        `the kept ${before} of Node ${nearest}`,
    ]
  })
}

/** Finds the version of Node with the smallest distance; of two, the newer one. */
function findNearest(kept: KeptRatios, major: number): number | null {
  const distance = (version: number) => Math.abs(version - major)
  const [nearest] = Object.keys(kept)
    .map(Number)
    .toSorted((a, b) => distance(a) - distance(b) || b - a)
  return nearest ?? null
}
