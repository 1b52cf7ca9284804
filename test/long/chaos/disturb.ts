import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { CrashingServer } from '../../postgres-server.ts'
import type { Chance } from '../../simulation/chance.ts'
import { findUrl } from './back-up.ts'
import type { ChaosWorkspace } from './chaos-workspace.ts'
import type { Gate } from './gate.ts'
import type { Tally } from './tally.ts'

/** How often something is disturbed. */
export interface Disturbances {
  /** Time between two of them, ms. */
  pauseMs: [min: number, max: number]
  /** Time after which applies are no longer disturbed, s. */
  seconds: number
  /** Time for which a crashed server is down, ms. */
  downMs: [min: number, max: number]
  /** Shares of the crashes of the server, and of cut connections; the rest kills applies. */
  crash: number
  cut: number
}

/**
 * Disturbs workspaces and their server until `signal` is aborted; the server runs in the end. The
 * first three disturbances are one of each kind. All choices depend on `chance` only, which draws
 * the same ones for each step.
 */
export async function disturb(
  workspaces: ChaosWorkspace[],
  server: CrashingServer,
  { pauseMs, seconds, downMs, crash, cut }: Disturbances,
  chance: Chance,
  tally: Tally,
  gate: Gate,
  signal: AbortSignal,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  for (let step = 1; performance.now() < end; step++) {
    const drawn = chance.fork(`step ${step}`)
    await sleep(drawn.between(...pauseMs))
    if (signal.aborted) return
    await gate.run(async () => {
      const kind = [1, crash, 0][step - 1] ?? drawn.draw()
      if (kind < crash) {
        const isKilled = drawn.happens(0.5)
        await server.crash(isKilled ? 'SIGKILL' : 'SIGQUIT', drawn.between(...downMs))
        tally[isKilled ? 'crashed' : 'shutDown']++
      } else if (kind < crash + cut) {
        tally.cut += await cutConnections(server)
      } else {
        // Most of the others wait for a lock.
        const sending = workspaces.filter(({ isSending }) => isSending)
        const isAny = sending.length === 0 || drawn.happens(0.3)
        if (drawn.pick(isAny ? workspaces : sending).kill()) tally.killed++
      }
    })
  }
}

/** Cuts the connections of all applies; returns how many they were. */
async function cutConnections(server: CrashingServer): Promise<number> {
  const rows = await query(
    server,
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'edgewise'`,
  )
  return rows.length
}

/** Runs a statement with a connection of its own. */
export async function query(
  server: CrashingServer,
  statement: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: findUrl(server) })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}
