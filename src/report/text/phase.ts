import type { Phase, PhaseName } from '../../model/phase.ts'

const words: Record<PhaseName, { verb: string; parts?: [one: string, many: string] }> = {
  'listing-files': { verb: 'listing', parts: ['file', 'files'] },
  'loading-files': { verb: 'loading', parts: ['file', 'files'] },
  'checking-manifests': { verb: 'checking', parts: ['manifest', 'manifests'] },
  'loading-import': { verb: 'loading', parts: ['kB to import', 'kB to import'] },
  'preparing-manifests': { verb: 'preparing', parts: ['manifest', 'manifests'] },
  'loading-observed': { verb: 'loading the observed configuration' },
  'reading-service': { verb: 'reading', parts: ['domain', 'domains'] },
  locking: { verb: 'acquiring the lock' },
  'loading-state': { verb: 'loading the state' },
  comparing: { verb: 'comparing', parts: ['domain', 'domains'] },
  planning: { verb: 'planning' },
  'preparing-writes': { verb: 'preparing', parts: ['write', 'writes'] },
  'formatting-files': { verb: 'formatting', parts: ['file', 'files'] },
  'writing-files': { verb: 'writing', parts: ['file', 'files'] },
  'saving-state': { verb: 'saving the state of', parts: ['domain', 'domains'] },
  pruning: { verb: 'pruning', parts: ['apply', 'applies'] },
}

/** Formats a phase: `loading 3,200 of 10,000 files`, `planning: 40 %`. */
export function formatPhase({ name, done, total }: Phase): string {
  const { verb, parts } = words[name]
  if (parts === undefined) {
    if (done === undefined || total === undefined) return verb
    return `${verb}: ${Math.floor((100 * done) / Math.max(1, total))} %`
  }
  const [one, many] = parts
  if (total === undefined) return `${verb} ${many}`
  const count = done === undefined ? '' : `${formatCount(done)} of `
  return `${verb} ${count}${formatCount(total)} ${total === 1 ? one : many}`
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
