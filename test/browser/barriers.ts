import type axe from 'axe-core'
import type { Page as Tab } from 'playwright-core'

/**
 * Lists what bars people in a part of the page: each rule with its elements. The page must have
 * `axe.source`.
 */
export async function findBarriers(tab: Tab, part = 'html', rules?: string[]): Promise<string[]> {
  const options = {
    resultTypes: ['violations'],
    // A page may allow no request for its style by a script.
    preload: false,
    ...(rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } }),
  }
  const { violations } = await tab.evaluate<axe.AxeResults>(
    `axe.run(${JSON.stringify(part)}, ${JSON.stringify(options)})`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
}
