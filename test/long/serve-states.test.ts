// @module-tag often
// @module-tag nightly
/** The states of a replica, and what tells of them: the table of docs/guides/serve.md. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { ended, type Replica } from '../server/replica.ts'
import {
  commit,
  configure,
  enterServed,
  getDatabase,
  git,
  runSql,
  setServeStage,
  start,
  until,
} from '../server/serve-stage.ts'
import { PostgresProxy } from '../state/postgres-proxy.ts'
import { setFaults } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'
import { full } from '../runs.ts'

setStage()
setServeStage()

const page = new URL('../../docs/guides/serve.md', import.meta.url)
const [begin, end] = ['<!-- states: begin -->\n', '<!-- states: end -->']
const rows: string[] = []

/** Takes minutes: only a run at full size tries it. */
const unattended = 'nothing works on a rollout'

interface Status {
  role: string
  database: string
  commit: string | null
  applied: { commit: string; status: string } | null
  working: { what: string } | null
  unattended: string[]
  problem: string | null
}

/** Metrics of the table, with what a row says if they have another value than usual. */
const shown = ['leader', 'branch_in_sync', 'rollouts_unattended', 'database_up']

/** Adds a row with what a replica tells at the moment. */
async function describeState(state: string, replica: Replica): Promise<void> {
  const status = (await (await replica.get('/api/status')).json()) as Status
  const probe = async (path: string) => {
    const answer = await fetch(replica.healthUrl + path)
    return `${answer.status} ${(await answer.text()).trim()}`
  }
  const metrics = await (await replica.get('/metrics')).text()
  const values = shown.flatMap((name) => {
    const value = new RegExp(`^edgewise_${name}\\{.*\\} (\\S+)$`, 'm').exec(metrics)?.[1]
    return value === undefined ? [] : [`\`${name}\` ${value}`]
  })
  const facts = [
    `\`${status.role}\``,
    ...(status.database === 'away' ? ['`database` away'] : []),
    ...(status.applied === null ? [] : [`\`applied\` ${status.applied.status}`]),
    ...(status.working === null ? [] : [`\`working\` ${status.working.what}`]),
    ...(status.unattended.length === 0 ? [] : ['`unattended` the rollout']),
    // Whether a look has failed already when the database is away is a matter of seconds.
    ...(status.problem === null || status.database === 'away' ? [] : ['`problem` the reason']),
  ]
  const cells = [
    state,
    await probe('/healthz'),
    await probe('/readyz'),
    facts.join(', '),
    await findHeadline(replica),
    values.join(', '),
  ]
  rows.push(`| ${cells.map(blank).join(' | ')} |\n`)
}

async function findHeadline(replica: Replica): Promise<string> {
  // A page may show what was loaded a second ago.
  await sleep(1100)
  const text = await (await replica.get('/')).text()
  const [, headline = ''] = /<h1[^>]*>([^<]*)</.exec(text) ?? []
  return headline.replaceAll('&#39;', "'").trim()
}

/** Replaces what differs from run to run. */
function blank(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{12,40}\b/g, 'ID')
    .replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{4}/g, 'ID')
    .replaceAll(/(:? (branch not fetched|rollouts not listed)):.*/g, '$1: …')
    .replaceAll(/(goes back to older values|guard[^:|]*): .*/g, '$1: …')
    .replaceAll('|', '\\|')
}

const isApplied = (replica: Replica) => async () => {
  const { applied, commit: tip } = (await (await replica.get('/api/status')).json()) as Status
  return applied?.status === 'done' && applied.commit === tip
}

/** Starts a leader that has applied its commit, in front of whose database a proxy stands. */
async function startApplied(settings = ''): Promise<{ replica: Replica; proxy: PostgresProxy }> {
  enterServed(settings)
  const proxy = await PostgresProxy.start(getDatabase().url)
  const url = new URL(getDatabase().url)
  proxy.redirect(url)
  place.env['DATABASE_URL'] = url.href
  configure(2, 60)
  commit()
  const replica = await start()
  await until(isApplied(replica))
  return { replica, proxy }
}

it('leads, and the commit is applied; another replica stands by', async () => {
  const { replica } = await startApplied()
  const standby = await start()
  await until(async () => (await fetch(`${standby.healthUrl}/readyz`)).status === 200)
  // The leader shares what it has found every 3 seconds.
  await expect.poll(isApplied(standby), { timeout: 10_000 }).toBe(true)
  await describeState('standby', standby)
  await describeState('leader, the commit is applied', replica)
})

/** Waits until a leader has begun to write another commit, which the service delays. */
async function beginApply(replica: Replica): Promise<void> {
  const countBegun = () => replica.log.filter(({ message }) => message === 'apply.started').length
  const before = countBegun()
  await setFaults(emulator, { kind: 'delay', ms: 25_000 })
  configure(2, 90)
  commit()
  await until(async () => countBegun() > before)
  await until(async () => (await findHeadline(replica)).includes('is not applied yet'))
}

it('has fetched a commit that is not applied yet, and ends', async () => {
  const { replica } = await startApplied()
  await beginApply(replica)
  await describeState('a fetched commit is not applied yet', replica)
  const exited = once(replica.process, 'exit')
  replica.process.kill('SIGTERM')
  await until(async () => (await fetch(`${replica.healthUrl}/readyz`)).status === 503)
  await describeState('it ends', replica)
  await exited
})

it('is overtaken by another replica', async () => {
  const { replica } = await startApplied()
  await beginApply(replica)
  const exited = once(replica.process, 'exit')
  await runSql(`update ${getDatabase().schema}.leaders set number = number + 1`)
  await replica.waitFor('term lost to another replica')
  await describeState('another replica leads', replica)
  await exited
})

it('has a commit that a guard refuses', async () => {
  const { replica } = await startApplied()
  place.write('edgewise.yaml', `${place.read('edgewise.yaml')}guards: {protect: ["d0.*"]}\n`)
  configure(2, 90)
  const tip = commit()
  await replica.waitFor(ended(tip, 'failed'))
  await describeState('a guard refuses the commit', replica)
})

it('does not reach the database', async () => {
  const { replica, proxy } = await startApplied()
  proxy.decide = () => 'cut'
  await replica.waitFor('sign of life not given')
  await describeState('the database is away', replica)
  proxy.end()
})

it('does not reach the repository', async () => {
  const { replica } = await startApplied()
  git('update-ref', '-d', 'refs/heads/main')
  await replica.waitFor('branch not fetched')
  await describeState('the branch can not be fetched', replica)
})

it.runIf(full)(
  'has a rollout that it does not work on',
  async () => {
    // Drift checks take long from the moment on at which the rollout pauses.
    const rollout = 'rollout: {waves: [1, 100%], pause: 70s}\n'
    const [slow, program] = [join(place.root, 'slow'), join(place.root, 'observe.sh')]
    const drift = `serve: {drift: {schedule: "* * * * *", observed: sh ${program}}}\n`
    writeFileSync(program, `test ! -e ${slow} || sleep 150\necho '{}'\n`)
    const { replica } = await startApplied(drift)
    place.write('edgewise.yaml', place.read('edgewise.yaml') + rollout)
    configure(2, 90)
    const tip = commit()
    await replica.waitFor(ended(tip, 'waiting'))
    writeFileSync(slow, '')
    await replica.waitFor('rollouts unattended')
    await describeState(unattended, replica)
  },
  400_000,
)

const isTried = (row: string) => full || !row.startsWith(`| ${unattended} |`)

afterAll(() => {
  const table =
    '| state | `/healthz` | `/readyz` | `/api/status` | first sentence of `/` | metrics |\n' +
    `|---|---|---|---|---|---|\n${rows.join('')}`
  const text = readFileSync(page, 'utf8')
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
  if (process.env['EDGEWISE_WRITE_DOCS'] === '1' && full)
    writeFileSync(page, text.slice(0, from) + table + text.slice(to))
  else expect(text.slice(from, to).split('\n').filter(isTried)).toEqual(table.split('\n'))
})
