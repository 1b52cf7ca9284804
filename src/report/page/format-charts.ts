import { chartScript, chartStyle } from '../../generated/page-assets.ts'
import type { PageRollout } from '../../model/page-rollout.ts'
import { formatJson } from './format-json.ts'
import { formatRollout } from './static-rollout.ts'

/** HTML of the health of waves: in the content, in the head, and at the end. */
export interface Charts {
  main: string
  head: string
  end: string
}

/** Formats the health of the waves with its charts, for a page of a server. */
export function formatCharts(rollout: PageRollout): Charts {
  const curves = listCurves(rollout)
  return {
    main: formatRollout(rollout),
    head: `<style>${chartStyle}</style>\n`,
    end:
      curves.length === 0
        ? ''
        : `${formatJson('curves', curves)}\n<script>${chartScript}</script>\n`,
  }
}

/** Lists the curves that a script draws. */
export function listCurves({ waves }: PageRollout) {
  return waves.flatMap(({ wave, curve }) => (curve === null ? [] : { wave, curve }))
}
