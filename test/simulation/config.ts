import type { WorkspaceConfig } from '../../src/manifest/workspace-file/workspace.ts'
import type { StateConfig } from '../../src/core/model/config.ts'
import type { Chance } from './chance.ts'

/** Service of all simulations. */
export const service = { url: 'https://service', account: 'default' }

/**
 * Draws the values of `edgewise.yaml`. Call rates and writes are small, so that a few domains reach
 * their limits.
 */
export function createConfig(chance: Chance, state: StateConfig): WorkspaceConfig {
  return {
    version: 1,
    id: 'simulation',
    trace: { assume: {} },
    requests: [],
    tests: [],
    service: {
      ...service,
      writtenUrl: service.url,
      token: 'sesame',
      timezone: 'UTC',
      itemKeys: {},
      timeoutSeconds: 30,
      settleSeconds: 10,
      allowHttp: false,
      readBack: false,
      unset: false,
    },
    limits: {
      callsPerMinute: chance.pick([3, 5, 10, 30, 30]),
      domainsPerWrite: chance.pick([2, 3, 10]),
      maxWaitSeconds: chance.pick([90, 300]),
      burst: null,
      readsPerMinute: 30,
    },
    manifests: [],
    profiles: [],
    policies: [],
    defaults: {},
    secrets: {},
    sign: {},
    allowLiteralSecrets: false,
    state,
    drift: { ignore: [] },
    grouping: {
      groups: chance.pick(['documented', 'all']),
      together: chance.pick([[], [['origin', 'origin_host']]]),
    },
    guards: {
      maxDomains: { percent: 100 },
      maxChanges: { percent: 100 },
      maxTraffic: 100,
      protect: [],
      freeze: [],
      order: 'ask',
      reason: [],
    },
    rollout: {
      waves: [{ percent: 100 }],
      first: [],
      pause: 0,
      approval: [],
      approvers: { by: 1, notAuthor: false },
      by: 'domains' as const,
      revert: 'waves' as const,
      health: null,
    },
    checks: {},
    notify: [],
    moved: [],
    roles: [],
    serve: {
      url: null,
      drift: { schedule: null, observed: null, repair: false },
      auth: { provider: null, proxy: null, ci: [], variables: [] },
    },
    written: {},
    texts: [],
  }
}
