// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import { pick } from '../runs.ts'
import { emulator, setStage } from '../steps/stage.ts'
import { chooseOther } from '../stories/chosen-id.ts'
import { compareGuarded } from '../stories/compared-secrets.ts'
import { takeOut } from '../stories/exclusions.ts'
import { handOver } from '../stories/renamed-domain.ts'
import { takeOver } from '../stories/second-workspace.ts'
import { secretSources } from '../stories/secrets-through-ci.ts'
import { SharedState, stores } from '../stories/shared-state.ts'
import { undoNothing } from '../stories/stale-clone.ts'
import { nameCommits } from '../stories/uncommitted.ts'
import { buildRules, deadOrigin, health, stayAborted, stayAway } from '../stories/value-on-hold.ts'

const hour = 3_600_000
let behind = 0
setStage({ now: () => Date.now() - behind, deadOrigins: [deadOrigin] })

/** Stories by what they show. */
const stories: Record<string, (shared: SharedState) => Promise<void>> = {
  'a value that was rolled back stays away until somebody repeats it': async (shared) => {
    behind = 12 * hour
    const place = shared.build(emulator.url, 'clone', buildRules(health))
    await stayAway(shared, place, emulator, (hours) => {
      behind -= hours * hour
    })
  },
  'a value of an aborted rollout stays away': async (shared) =>
    stayAborted(shared, shared.build(emulator.url, 'clone', buildRules()), emulator),
  'a stale clone undoes nothing, unless a flag says so': (shared) => undoNothing(shared, emulator),
  'an apply of uncommitted changes is marked as such': (shared) => nameCommits(shared, emulator),
  'guards count the secrets that differ, not those that a plan does not know': (shared) =>
    compareGuarded(shared.build(emulator.url, 'clone', secretSources), emulator),
  'a pattern with "!" takes domains out': (shared) => takeOut(shared, emulator),
  'init chooses another id beside a workspace': (shared) => chooseOther(shared, emulator),
  'a second workspace with the same id is asked before it releases': async (shared) => {
    const [first, second] = ['a', 'b'].map((name) => shared.build(emulator.url, `clone/${name}`))
    await takeOver(first!, second!, emulator)
  },
  'a renamed domain keeps state and history, in another clone too': async (shared) => {
    await handOver(shared.build(emulator.url), emulator)
    const other = shared.build(emulator.url, 'other')
    other.manifest('new.example.com', { timeout: { time: 61 } })
    other.manifest('www.example.com', { timeout: { time: 30 } })
    expect(await other.cli('plan', '--detailed-exitcode')).toMatchObject({ code: 0 })
  },
}

// The built program runs each command of these stories.
describe.each(Object.entries(stories).map(([title, replay], i) => ({ title, replay, i })))(
  '$title',
  ({ replay, i }) => {
    it.each(pick(stores, i))('with state in %s', async (store) => {
      behind = 0
      const shared = await SharedState.make(store)
      try {
        await replay(shared)
      } finally {
        await shared.remove()
      }
    })
  },
)
