import { chooseProbes, type Chosen } from '../../core/effects/requests/choose-probes.ts'
import type { ProbeConfig } from '../../core/model/config.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Json } from '../../core/model/json.ts'
import type { Counts } from '../../core/model/statistics.ts'
import { isLoopback, parseUrl } from '../../core/model/text/url.ts'
import { hashJson } from '../../core/plan/basis.ts'
import { compile, type Compiled } from '../../core/trace/compiled.ts'
import { createSettings } from '../../core/trace/settings.ts'
import { askReplies } from '../../core/trace/trace.ts'
import { formatFull, getDefaultPort } from '../../core/trace/url.ts'
import type { Probing } from '../../engine/rollout/ports.ts'
import { findRealPath } from '../../files/look.ts'
import { loadSource } from '../../manifest/manifests/load-source.ts'
import { readRequestFile } from '../../manifest/requests/request-file.ts'
import type { Probe, ProbeRequest } from '../../service/probe.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { connectToQuery } from '../runtime/connect.ts'
import type { Outside } from '../runtime/outside.ts'
import type { Settings } from '../runtime/workspace-parts.ts'
import { readRecorded } from '../tracing/candidates.ts'
import { settleReadings } from '../tracing/readings.ts'

/** Maximum number of probes at the same time, and time in which they begin, ms. */
const [maxAtOnce, maxMs] = [10, 10 * 60_000]

/** Where a probe goes, and as what. */
type Target = Omit<ProbeRequest, 'method' | 'allowsLoopback' | 'signal'>
/** Finds where a probe goes; null if nothing can be asked. */
type Aim = (chosen: Chosen) => Target | null

/**
 * Creates the probes of a workspace; null without any. With a service on this machine, the domains
 * are those of its emulator.
 */
export function createProbing(
  workspace: Settings,
  outside: Outside,
): (Probing & { load(): void }) | null {
  const { probe, health } = workspace.config.rollout
  if (probe === null || health === null) return null
  return {
    load: () => void loadRequests(workspace, probe),
    probe: async (domains, recorded) => {
      const { text, requests } = loadRequests(workspace, probe)
      const { from, count } = probe
      const chosen = chooseProbes(requests, domains, count)
      const counts = await withEmulator(workspace, outside, (emulator) => {
        const aim = from === 'origin' ? aimAtOrigins(workspace, recorded) : aimAtEdge(emulator)
        return sendAll(chosen, aim, emulator !== null, outside)
      })
      return { of: hashJson({ text, from, count }), count, counts }
    },
  }
}

/** @throws EdgewiseError `usage` */
function loadRequests({ root }: Pick<Settings, 'root'>, { requests: path }: ProbeConfig) {
  const source = loadSource(findRealPath(root), path)
  if ('text' in source) return { ...readRequestFile(source.text, path), text: source.text }
  const hint = 'See "rollout.probe" in edgewise.yaml.'
  throw new EdgewiseError('usage', `the sample requests ${path}: ${source.detail}`, hint)
}

/** Does some work with the address of the emulator; null for a service elsewhere. */
async function withEmulator<T>(
  workspace: Settings,
  outside: Outside,
  work: (address: URL | null) => Promise<T>,
): Promise<T> {
  const { url } = workspace.config.service
  const address = parseUrl(url)
  const isHere = address?.protocol === 'http:' && isLoopback(address.hostname)
  if (url !== 'emulator') return work(isHere ? address : null)
  const { url: embedded, close } = await connectToQuery(workspace, outside)
  try {
    return await work(new URL(embedded))
  } finally {
    await close()
  }
}

/** Aims at a domain as a client does, or at the emulator in its place. */
function aimAtEdge(emulator: URL | null): Aim {
  return ({ url, headers }) => {
    const { scheme: protocol, host, port } = url
    const named = { host: port === null ? host : `${host}:${port}`, path: formatFull(url), headers }
    if (emulator === null)
      return { ...named, protocol, address: host, port: port ?? getDefaultPort(protocol) }
    return {
      ...named,
      protocol: 'http',
      address: emulator.hostname.replace(/^\[|\]$/g, ''),
      port: Number(emulator.port || 80),
      headers: { ...headers, 'x-forwarded-proto': protocol },
    }
  }
}

const asked = ['main', 'protocol', 'port', 'host', 'url'].map((name) => ({
  path: `origin.${name}`,
  header: null,
}))

/** Aims at the main origins of a domain in turn, by its recorded configuration. */
function aimAtOrigins(workspace: Settings, recorded: RecordedState): Aim {
  const { answers, timezone } = settleReadings(workspace, {})
  const settings = createSettings(answers, 'absent', timezone)
  const known = new Map<Domain, Compiled>()
  return ({ domain, request, headers, turn }) => {
    const compiled =
      known.get(domain) ??
      compile(domain, readRecorded(recorded.get(domain) ?? new Map()), settings)
    known.set(domain, compiled)
    const [main, protocol, port, host, path] = askReplies(compiled, request, asked).map(
      (reply): Json => ('value' in reply ? reply.value : null),
    )
    const targets = Array.isArray(main) ? (main as { address: string }[]) : []
    const address = targets[turn % targets.length]?.address
    const isHttp = protocol === 'http' || protocol === 'https'
    // Several origins may differ in these; a list does not say whose each is.
    if (address === undefined || !isHttp || typeof port !== 'number') return null
    if (typeof host !== 'string' || typeof path !== 'string') return null
    return { protocol, address, port, host, path, headers }
  }
}

/** Sends requests, some at a time, each once; counts the statuses by domain. */
async function sendAll(
  chosen: IterableIterator<Chosen>,
  aim: Aim,
  allowsLoopback: boolean,
  { clock, signal, probe }: Outside,
): Promise<Record<Domain, Counts>> {
  const send: Probe = probe ?? (await import('../../service/probe.ts')).sendProbe
  const counts: Record<Domain, Counts> = {}
  const end = clock.monotonic() + maxMs
  const work = async () => {
    for (const each of chosen) {
      if (signal.aborted || clock.monotonic() > end) return
      const target = aim(each)
      if (target === null) continue
      const { domain, method } = each
      const status = await send({ ...target, method, allowsLoopback, signal })
      const own = (counts[domain] ??= {})
      own[status] = (own[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: maxAtOnce }, work))
  return counts
}
