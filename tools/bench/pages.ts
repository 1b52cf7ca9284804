import { setTimeout as sleep } from 'node:timers/promises'
import type { Replica } from '../../test/server/replica.ts'
import type { BenchOptions } from './arguments.ts'
import { createRow, type Row } from './row.ts'
import { measureCpu, withServed } from './served.ts'
import type { Workbench } from './workbench.ts'

/** Visits of each page, open tabs, and the seconds between two questions of a tab for news. */
const [visits, tabs, newsSeconds] = [20, 50, 10]
const watchSeconds = 120

/** Measures the pages of domains of `edgewise serve`, and what open tabs cost it. */
export async function measurePages(bench: Workbench, { domains }: BenchOptions): Promise<Row[]> {
  const size = domains ?? 3000
  return withServed(bench, size, async (replica) => {
    const made = await measureMade(replica)
    const first = await measureVisit(replica, '/domains')
    const list = await (await replica.get('/domains')).text()
    const { rows = [] } = JSON.parse(/id="domains">(.*?)<\/script>/.exec(list)?.[1] ?? '{}') as {
      rows?: { domain: string }[]
    }
    if (rows.length !== size) throw new Error(`expected ${size} domains, got ${rows.length}`)
    const domain = `/domains/${rows.at(-1)?.domain}`
    const cold = await measureVisit(replica, domain)
    const name = `${size} domains`
    const paths = ['/', '/domains', domain]
    const all = [...paths, '/plan', '/history', '/drift', '/live', '/api/plan']
    const hold = await measureHold(replica, [...all, `${domain}?url=https://a.example.com/`])
    const cpu = await measureTabs(replica, paths)
    return [
      createRow('pages-made', `${name}: from the first apply until pages are made`, 's', made),
      createRow('pages-first', `${name}: the list for the first visitor then`, 's', first, 1),
      createRow(
        'pages-list',
        `${name}: the list`,
        's',
        await measureMedian(replica, '/domains'),
        1,
      ),
      createRow('pages-cold', `${name}: a page, status codes queried`, 's', cold),
      createRow('pages-domain', `${name}: a page`, 's', await measureMedian(replica, domain), 0.3),
      createRow('pages-hold', `${name}: longest hold by ${hold.path}`, 's', hold.seconds, 0.1),
      createRow('pages-tabs', `${name}: CPU a second of ${tabs} tabs`, 's', cpu, 0.02),
    ]
  })
}

/** Waits until the pages are made without a visitor; returns the time, s. */
async function measureMade(replica: Replica): Promise<number> {
  const begin = performance.now()
  await replica.waitFor('pages of domains made')
  return (performance.now() - begin) / 1000
}

async function measureVisit(replica: Replica, path: string): Promise<number> {
  const begin = performance.now()
  const answer = await replica.get(path)
  await answer.text()
  if (answer.status !== 200) throw new Error(`${path} has the status ${answer.status}`)
  return (performance.now() - begin) / 1000
}

async function measureMedian(replica: Replica, path: string): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < visits; i++) times.push(await measureVisit(replica, path))
  return times.toSorted((a, b) => a - b)[visits / 2] ?? 0
}

/** Visits of a page of which the one counts that held the loop least: other work holds it too. */
const holdVisits = 5

/** Measures how long each page holds the event loop of the server; returns the longest. */
async function measureHold(replica: Replica, paths: string[]) {
  const takeHold = async (): Promise<number> => {
    const { length } = replica.log
    replica.process.kill('SIGUSR2')
    for (let waits = 0; waits < 12_000; waits++) {
      const found = replica.log.slice(length).find(({ message }) => message.startsWith('held for'))
      if (found !== undefined) return parseInt(found.message.slice('held for '.length), 10) / 1000
      await sleep(5)
    }
    throw new Error('the replica does not answer')
  }
  const holds: { path: string; seconds: number }[] = []
  for (const path of paths) {
    await replica.get(path).then((answer) => answer.text())
    const times: number[] = []
    for (let i = 0; i < holdVisits; i++) {
      await takeHold()
      await replica.get(path).then((answer) => answer.text())
      times.push(await takeHold())
    }
    holds.push({ path, seconds: Math.min(...times) })
    console.error(`${path}: ${(Math.min(...times) * 1000).toFixed(0)} ms`)
  }
  return holds.reduce((a, b) => (b.seconds > a.seconds ? b : a))
}

/** Measures the processor time of open tabs beyond that of none, seconds a second. */
async function measureTabs(replica: Replica, paths: string[]): Promise<number> {
  const { pid = 0 } = replica.process
  const watch = async (count: number) => {
    const before = measureCpu(pid, 'own')
    const rounds = watchSeconds / newsSeconds
    for (let round = 0; round < rounds; round++) {
      const end = performance.now() + newsSeconds * 1000
      for (let tab = 0; tab < count; tab++) {
        // Each tab loads its page once, then asks for news.
        await measureVisit(replica, round === 0 ? (paths[tab % paths.length] ?? '/') : '/live')
        await sleep((newsSeconds * 1000) / tabs / 2)
      }
      await sleep(Math.max(0, end - performance.now()))
    }
    return (measureCpu(pid, 'own') - before) / watchSeconds
  }
  const idle = await watch(0)
  return (await watch(tabs)) - idle
}
