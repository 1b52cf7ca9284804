/**
 * Plans changes of many domains in many classes and prints the writes, the bound, the time and the
 * memory that it took.
 */
import { loadSolver } from '../src/operations/load-solver.ts'
import { createRandom } from '../src/plan/cover/create-random.ts'
import { groupWrites } from '../src/plan/group-writes.ts'
import type { Need } from '../src/plan/needs.ts'

const items = [
  'cache_rule',
  'https',
  'ip_black_list',
  'origin',
  'origin_host',
  'referer',
  'add_response_head',
  'video_drag',
  'compress_rule',
  'timeout',
]

const solver = await loadSolver()
for (const [domains, classes] of [
  [10_000, 300],
  [100_000, 3_000],
] as const) {
  const needs = changeMix(domains, classes, createRandom(domains))
  const started = performance.now()
  const { writes, lowerBound } = groupWrites({
    needs,
    grouping: { groups: 'all', together: [] },
    domainsPerWrite: 10,
    effort: 'normal',
    solver,
  })
  const seconds = (performance.now() - started) / 1000
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024)
  console.log(
    `${domains} domains, ${classes} classes, ${needs.length} needs: ${writes.length} writes (at least ${lowerBound}), ${seconds.toFixed(1)} s, ${megabytes} MiB at most`,
  )
}

/**
 * Each class changes some of ten items to one of a few values; domains fall into classes at random.
 */
function changeMix(domains: number, classes: number, random: () => number): Need[] {
  const patches = Array.from({ length: classes }, () =>
    items.flatMap((item) =>
      random() < 0.6 ? [{ item, value: Math.floor(random() * random() * 8) }] : [],
    ),
  )
  return Array.from({ length: domains }, (_, i) => i).flatMap((i) =>
    (patches[Math.floor(random() * classes)] ?? []).map(({ item, value }) => ({
      domain: `d${String(i).padStart(6, '0')}.example.com`,
      item,
      whole: { name: 'replace' as const, payload: { value } },
      parts: [],
    })),
  )
}
