import { formatCount } from '../../core/model/text/words.ts'
import type { Phase, PhaseName } from '../../core/model/events.ts'
import type { GlobalOptions, Io, LiveLine, PhaseLine } from '../io.ts'

/** The first phases show nothing for so long, ms: most commands end before it. */
const graceMs = { terminal: 200, log: 5000 }
/** Minimum interval between two updates of a phase, ms. */
const intervalMs = { terminal: 200, log: 30_000 }
/** Minimum interval between the lines of two phases in a log, ms. */
const phaseIntervalMs = 5000
/** A phase with so many parts is shown at once: it may block, and then nothing can be drawn. */
const manyParts = 1000

/**
 * Shows the phases of a command: a live line on a terminal, and elsewhere a line after five seconds
 * and then every 30 seconds or with the next phase. Shows nothing with `--quiet` and `--json`.
 *
 * @param print prints a line of a log
 */
export function createPhaseLine(
  io: Pick<Io, 'clock' | 'errIsTerminal'>,
  { json, quiet }: GlobalOptions,
  live: LiveLine,
  print: (line: string) => void,
): PhaseLine {
  if (json === true || quiet === true) return { report: () => undefined, end: () => undefined }
  return io.errIsTerminal ? createLiveLine(io, live) : createLog(io, print)
}

function createLiveLine({ clock }: Pick<Io, 'clock'>, live: LiveLine): PhaseLine {
  let current: Phase | null = null
  let [startedAt, drawnAt] = [0, -Infinity]
  const compose = () => (current === null ? '' : formatPhase(current))
  return {
    report: (phase) => {
      const now = clock.monotonic()
      if (current === null) [startedAt, drawnAt] = [now, -Infinity]
      const isNew = current?.name !== phase.name
      current = phase
      const isShort = now - startedAt < graceMs.terminal && (phase.total ?? 0) < manyParts
      if (isShort) {
        if (isNew) live.showLater(compose)
      } else if (isNew || now - drawnAt >= intervalMs.terminal) {
        live.show(compose)
        drawnAt = now
      }
    },
    end: () => {
      if (current !== null) live.end()
      current = null
    },
  }
}

function createLog({ clock }: Pick<Io, 'clock'>, print: (line: string) => void): PhaseLine {
  let current: Phase | null = null
  let printed: string | null = null
  let [startedAt, printedAt] = [0, -Infinity]
  let timer: NodeJS.Timeout | null = null
  const printLate = () => {
    const now = clock.monotonic()
    if (current === null || now - startedAt < graceMs.log) return
    const interval = current.name === printed ? intervalMs.log : phaseIntervalMs
    if (now - printedAt < interval) return
    ;[printed, printedAt] = [current.name, now]
    print(formatPhase(current))
  }
  return {
    report: (phase) => {
      if (current === null) startedAt = clock.monotonic()
      current = phase
      timer ??= setInterval(printLate, 1000).unref()
      printLate()
    },
    end: () => {
      if (timer !== null) clearInterval(timer)
      ;[current, timer] = [null, null]
    },
  }
}

const words: Record<PhaseName, [verb: string, one?: string, many?: string]> = {
  'listing-files': ['listing', 'file', 'files'],
  'loading-files': ['loading', 'file', 'files'],
  'checking-manifests': ['checking', 'manifest', 'manifests'],
  'loading-import': ['loading', 'kB to import', 'kB to import'],
  'preparing-manifests': ['preparing', 'manifest', 'manifests'],
  'loading-observed': ['loading the observed configuration'],
  'reading-service': ['reading', 'domain', 'domains'],
  locking: ['acquiring the lock'],
  'loading-state': ['loading the state'],
  comparing: ['comparing', 'domain', 'domains'],
  planning: ['planning'],
  testing: ['running', 'test', 'tests'],
  mutating: ['trying', 'change', 'changes'],
  'preparing-writes': ['preparing', 'write', 'writes'],
  'formatting-files': ['formatting', 'file', 'files'],
  'writing-files': ['writing', 'file', 'files'],
  'saving-state': ['saving the state of', 'domain', 'domains'],
  pruning: ['pruning', 'apply', 'applies'],
}

/** Formats a phase: `loading 3,200 of 10,000 files`, `planning: 40 %`. */
function formatPhase({ name, done, total }: Phase): string {
  const [verb, one, many] = words[name]
  if (many === undefined) {
    if (done === undefined || total === undefined) return verb
    return `${verb}: ${Math.floor((100 * done) / Math.max(1, total))} %`
  }
  if (total === undefined) return `${verb} ${many}`
  const count = done === undefined ? '' : `${formatCount(done)} of `
  return `${verb} ${count}${formatCount(total)} ${total === 1 ? one : many}`
}
