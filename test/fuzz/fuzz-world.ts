import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loadWorkspace, type LoadedWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import type { Outside } from '../../src/operations/runtime/parts.ts'
import type { Ports } from '../../src/operations/runtime/ports.ts'
import type { Transport } from '../../src/service/transport.ts'
import { Chance } from '../simulation/chance.ts'
import { createMemoryDisk } from './memory-disk.ts'

/** Time at which every case starts, ms since 1970. */
export const start = Date.UTC(2026, 10, 20, 3)
const maxSleeps = 2000
/** Maximum number of kept workspaces: that of most kinds comes first. */
const maxLoaded = 3

/** Source files of the workspace. */
export const sources = new Map([
  [
    'edgewise.yaml',
    JSON.stringify({
      version: 1,
      id: 'default',
      service: {
        url: 'https://service',
        token: '${env:EDGEWISE_TOKEN}',
        itemKeys: { deny_protocol: 'deny', error_bcache: 'cache_errors' },
      },
      limits: { callsPerMinute: 30, domainsPerWrite: 2, maxWaitSeconds: 300 },
      secrets: { signing: { env: 'SIGNING' } },
      state: { store: 'dir', path: '.edgewise/state' },
      defaults: { timeout: { time: 30 } },
      guards: { protect: ['never.example.com'], freeze: [] },
      rollout: { waves: ['100%'], first: ['a.*'], pause: '1m' },
    }),
  ],
  [
    'domains/all.yaml',
    JSON.stringify({
      domains: ['a.example.com', 'b.example.com', 'c.example.com'],
      profiles: ['base'],
      vars: { pool: 'eu' },
      config: {
        origin_host: { host: '${var:pool}.${domain}' },
        ip_black_list: { list: { $append: ['203.0.113.9'] } },
        visit_timestamp: {
          pattern: '.*',
          time_format: 'timestamp',
          key: '${secret:signing}',
          deadtime: 1800,
          req_uri_type: 1,
        },
        cache_rule_list: [
          { match_method: 'ext', pattern: 'jpg,png', expire: 30, expire_unit: 'D', priority: 1 },
        ],
      },
    }),
  ],
  [
    'profiles/base.yaml',
    JSON.stringify({
      profile: 'base',
      config: {
        https: { cert_id: 1001, http2: 'on', force_https: '301' },
        ip_black_list: { list: ['192.0.2.0/24'] },
        add_response_head: { list: [{ name: 'X-Frame-Options', value: 'DENY' }] },
      },
    }),
  ],
])

/** A workspace on disk, with state in memory and a service that is played back. */
export class FuzzWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'edgewise-fuzz-'))
  env: Record<string, string | undefined> = {
    EDGEWISE_TOKEN: 'token-of-the-fuzzer',
    SIGNING: 'signing-key-of-the-fuzzer',
  }
  files = new Map<string, string>()
  transport: Transport = () => Promise.reject(new Error('expected no call'))
  readonly #written = new Map<string, string>()
  readonly #loaded = new Map<string, LoadedWorkspace>()
  #slept = 0
  #sleeps = 0
  #chance = new Chance('fuzz')

  constructor() {
    for (const [path, text] of sources) this.write(path, text)
  }

  write(path: string, text: string): void {
    if (this.#written.get(path) === text) return
    this.#written.set(path, text)
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }

  /** Starts a case: the clock, the randomness and the count of its waits are those of the first. */
  reset(files: ReadonlyMap<string, string>): void {
    this.files = new Map(files)
    this.#slept = 0
    this.#sleeps = 0
    this.#chance = new Chance('fuzz')
  }

  /** Loads the workspace anew if its sources or the environment have changed: that takes long. */
  load(): LoadedWorkspace {
    const key = JSON.stringify([[...this.#written], this.env])
    const known = this.#loaded.get(key)
    if (known !== undefined) return known
    const loaded = loadWorkspace(this.root, this.outside(), 'available')
    if (this.#loaded.size < maxLoaded) this.#loaded.set(key, loaded)
    return loaded
  }

  /** Returns the name of an item on the wire. */
  wireName(item: string): string {
    return this.load().config.service.itemKeys[item] ?? item
  }

  ports(): Ports {
    return {
      outside: this.outside(),
      dialogue: {
        note: () => undefined,
        warn: () => undefined,
        show: () => undefined,
        confirm: () => Promise.resolve(true),
        startProgress: () => Promise.resolve({ report: () => undefined, end: () => undefined }),
      },
    }
  }

  outside(): Outside {
    const now = () => this.#slept
    return {
      env: this.env,
      clock: {
        now: () => start + this.#slept,
        monotonic: now,
        sleep: (ms, signal, name) => this.#sleep(ms, signal, name === 'lock-beat'),
      },
      random: () => this.#chance.draw(),
      newId: () => `00000000-0000-4000-8000-${this.#chance.between(1e11, 1e12 - 1)}`,
      user: 'fuzzer@machine',
      signal: new AbortController().signal,
      transport: (request) => this.transport(request),
      machine: {
        boot: 'boot',
        namespace: 'namespace',
        pid: 1,
        uptime: now,
        started: '',
        processName: 'fuzzer',
        isRunning: () => false,
      },
      disk: createMemoryDisk(this.files),
      openGit: () => Promise.resolve(null),
      solver: null,
    }
  }

  async #sleep(ms: number, signal: AbortSignal | undefined, isBeat: boolean): Promise<void> {
    if (isBeat)
      return new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve(), { once: true })
      })
    if (!(ms >= 0)) throw new TypeError(`expected a wait of at least 0 ms, got ${ms}`)
    this.#slept += Math.min(ms, 86_400_000)
    if (++this.#sleeps > maxSleeps) throw new TypeError(`${maxSleeps} waits, the last of ${ms} ms`)
  }
}
