import { findTerraform, runEdgewise, runTerraform } from './peers.ts'
import type { Row } from './row.ts'
import type { Workbench } from './workbench.ts'

/** Measures first applies and empty plans beside Terraform's, in seconds of wall time. */
export async function measurePeers(bench: Workbench, sizes: number[]): Promise<Row[]> {
  const version = findTerraform(bench)
  const url = await bench.startEmulator()
  return sizes.flatMap((size) => {
    const peer = version === null ? null : runTerraform(bench, version, size)
    const own = runEdgewise(bench, url, size)
    return (['plan', 'apply'] as const).map((command): Row => {
      const [measured, base] = [own[command].wall, peer?.[command].wall ?? null]
      return {
        id: `peers-${command}-${size}`,
        what: `${command === 'plan' ? 'no-op plan' : 'first apply'} of ${size} / Terraform, wall`,
        unit: 's',
        measured,
        base,
        ratio: base === null ? null : measured / base,
        goal: null,
        ...(base === null ? { note: 'Terraform is not installed' } : {}),
      }
    })
  })
}
