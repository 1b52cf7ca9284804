// @module-tag often
// @module-tag nightly
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listLines } from '../../src/outlets/notify/messages.ts'
import type { Notification } from '../../src/outlets/notify/notification.ts'
import { spendNight, type Night } from '../simulation/serve/night.ts'

/** Questions of somebody who has seen nothing. */
type Question = 'what' | 'where' | 'why' | 'who' | 'since' | 'next'

/** Something that went wrong, and texts that answer. */
interface Incident {
  name: string
  /** Text on a page that at most two links lead to; absent: no page answers. */
  pages: Partial<Record<Question, RegExp>>
  /** Texts of one notification; empty: none tells of it. */
  notified: RegExp[]
}

/** Most lines that somebody reads on a telephone at night. */
const maxNotifications = 20
const refused =
  /refused: origin_host of d5\.example\.com: item\(origin_host\) is invalid: refused because/

/** Ten things that go wrong, and a wave that waits for somebody. */
const incidents: Incident[] = [
  {
    name: 'a rollout is rolled back by its health check',
    pages: {
      what: /on hold since .* by rollout \S+, rolled back: wave 1 of 2: 5xx rose/,
      where: /rolled back: .* on 1 of 1 domain: d0\.example\.com/,
      why: /rolled back: .*: d0\.example\.com from 0\.\d % to \d+\.\d %/,
      who: /rollout \S+: rolled back .*\n.*commit 0+20000 “Move to the new pool” by Ada Example/,
      since: /3 changes on hold since 2026-11-20 04:1\d UTC/,
      next: /rolled back: .* or "edgewise apply --retry-held" sends the same values again/,
    },
    notified: [
      /^2026-11-20T04:1/,
      /Rolled back; writes: 1 confirmed/,
      /Wave: 1 of 2 of rollout \S+ · Domains: d0\.example\.com/,
      /Reason: wave 1 of 2: 5xx rose on 1 of 1 domain: d0\.example\.com from/,
      /Of: commit 000000020000 “Move to the new pool” by Ada Example/,
      /Next: edgewise plan/,
    ],
  },
  {
    name: 'a late verdict that only stops',
    pages: {
      what: /2 domains worse since .* by rollout \S+, stopped: wave 1 of 1: 5xx rose/,
      where: /2 domains worse since .*: d4\.example\.com from .*, d3\.example\.com from/,
      why: /2 domains worse since .* from 0\.\d % to \d+\.\d %/,
      who: /rollout \S+: stopped \(wave 1 .*\ncommit \w+ “Try the spare pool” by Ben Example/,
      since: /2 domains worse since 2026-11-20 04:5\d UTC/,
      next: /2 domains worse since .* "edgewise rollback \S+" rolls back/,
    },
    notified: [
      /^2026-11-20T04:5/,
      /The rollout is not complete; writes: 1 confirmed/,
      /Domains: d3\.example\.com, d4\.example\.com/,
      /Reason: wave 1 of 1: 5xx rose on 2 of 2 domains/,
      /Of: commit 000000030000 “Try the spare pool” by Ben Example/,
      /Next: edgewise rollback \S+/,
    ],
  },
  {
    name: 'a refused write',
    pages: {
      what: refused,
      where: /d5\.example\.com\n1 of 2 items as recorded; 1 refused/,
      why: refused,
      who: /apply \S+: refused \d times since .*\n.*commit \w+ “Rename the host” by Cleo Example/,
      since: /apply \S+: refused \d times since 2026-11-20T05:36:\d\dZ \(refused/,
      next: /refused: origin_host of d5\.example\.com: .*\. Change its manifest/,
    },
    notified: [
      /^2026-11-20T05:36/,
      /Not everything was applied; writes: 1 refused/,
      /Refused: origin_host of d5\.example\.com: item\(origin_host\) is invalid: refused because/,
      /Of: commit \w+ “Rename the host” by Cleo Example/,
      /Next: edgewise plan/,
    ],
  },
  {
    name: 'a change by hand at the service',
    pages: {
      what: /Last drift check: 1 item of the service differed from state\. \(→ \/drift\)/,
      where: /At the service: state → service .*\nd6\.example\.com/,
      why: /At the service: state → service ~ host one\.example\.net → by\.hand\.net/,
      since: /at the service since 2026-11-20T04:15:0\dZ or before: it has this value/,
      next: /it has this value .*"edgewise drift --live --repair" .* writes the recorded values/,
      // No apply of Edgewise wrote it: the page of the domain lists all of them.
      who: /d6\.example\.com\n(?:.*\n)*at the service since .*: it has this value/,
    },
    notified: [
      /^2026-11-20T04:15/,
      /Drift: 1 item of 1 domain/,
      /Differs: origin_host of d6\.example\.com/,
      /Next: edgewise drift/,
    ],
  },
  {
    name: 'a replica that dies in a wave',
    pages: {
      what: /apply \S+: interrupted/,
      where: /d7\.example\.com\n(?:.*\n)*2026-11-20 04:24:\d\d UTC in-doubt: origin_host/,
      why: /its process ended without recording its end/,
      who: /interrupted.*\nby edgewise serve \(\w\.serve1\) · .* “One host for each shop” by Ada/,
      since: /04:24:\d\d UTC apply \S+: interrupted/,
      // Nothing: the other replica has sent all of it.
      next: /complete.*\nby edgewise serve \(\w\.serve2\) · .* “One host for each shop” by Ada/,
    },
    notified: [
      /^2026-11-20T04:2/,
      /An apply that began at 2026-11-20T04:24:\S+ by \w\.serve1 ended without reporting/,
      /Next: edgewise state history/,
    ],
  },
  {
    name: 'a remote of git that is away for all',
    pages: {
      what: /At the moment: branch not fetched/,
      where: /main of https:\/\/git\/repository/,
      why: /git can't fetch: the remote is away/,
      since: /Last fetch\n2026-11-20 05:47:\d\d UTC/,
    },
    notified: [],
  },
  {
    name: 'a leader that is cut off from git, and hands over',
    pages: {
      what: /replica \S+ hands over/,
      where: /replica b-\d+ hands over/,
      why: /hands over: the branch can not be fetched here, but by another replica/,
      since: /2026-11-20 04:5\d:\d\d UTC replica \S+ hands over/,
      // Nothing: another one leads.
      next: /replica \S+ leads\n(?:.*\n)*.*replica \S+ hands over/,
    },
    notified: [],
  },
  {
    name: 'a restart of the database',
    pages: {
      what: /the database was away for \d+ s/,
      since: /2026-11-20 05:0\d:\d\d UTC replica \S+ leads on: the database was away/,
      next: /leads on: the database was away/,
    },
    notified: [],
  },
  {
    name: 'a rollout that one approves and another aborts',
    pages: {
      what: /decision \S+: aborted/,
      where: /1 domain on hold\nd12\.example\.com/,
      why: /rollout \S+: stopped \(aborted by ben@example\.com\)/,
      who: /approval \S+: approved.*\nby cleo@example\.com · .* “Split the shops” by Ben Example/,
      since: /05:12:0\d UTC decision \S+: aborted.*\nby ben@example\.com/,
      next: /1 change on hold .* aborted by ben@example\.com\. .*"edgewise apply --retry-held"/,
    },
    notified: [
      /^2026-11-20T05:12/,
      /Aborted rollout \S+ Its changes of 1 domain are on hold\. Decided by ben@example\.com/,
      /Domains: d12\.example\.com/,
      /Of: commit \w+ “Split the shops” by Ben Example/,
      /Next: edgewise rollout list/,
    ],
  },
  {
    name: 'a stop of all writes that was lifted',
    pages: {
      what: /decision all writes of the account default: stopped/,
      where: /all writes of the account default/,
      why: /stopped \(the origin is on fire\)/,
      who: /stopped \(the origin is on fire\)\nby ben@example\.com/,
      since: /05:16:00 UTC decision all writes of the account default: stopped/,
      // Nothing any more.
      next: /05:22:00 UTC decision all writes of the .*: resumed\nby cleo@example\.com/,
    },
    notified: [
      /^2026-11-20T05:22/,
      /Resumed; before, all writes of the account were stopped by .*ben@.* at 2026-11-20T05:16/,
      /the origin is on fire/,
      /By: cleo@example\.com/,
      /Next: edgewise rollout list/,
    ],
  },
  {
    name: 'a wave that waits for approval',
    pages: {
      what: /Wave 1 of 1 waits for approval: 1 domain/,
      where: /◆ needs approval\n1 domain\nd13\.example\.com/,
      why: /~host one\.example\.net → last\.example\.net\nd13\.example\.com/,
      who: /commit \w+ “Move the last shop” by Ada Example\n(?:\[|\(not possible: )Approve wave 1/,
      since: /In this state since\n2026-11-20 05:30:\d\d UTC/,
      // The standby asks the branch who may, and the remote is away.
      next: /\[Approve wave 1 \(1 domain\)\]|\(not possible: Approve wave 1 .* git can't fetch: /,
    },
    notified: [
      /^2026-11-20T05:30/,
      /Wave 1 of 1 waits for approval/,
      /Domains: d13\.example\.com/,
      /Of: commit \w+ “Move the last shop” by Ada Example/,
      /Next: edgewise rollout approve \S+/,
    ],
  },
  {
    name: 'the plan of a wave that waits',
    pages: { next: /plan: some of its domains are in rollout .*"edgewise rollout approve \S+"/ },
    notified: [],
  },
  {
    name: 'a domain on hold',
    pages: {
      why: /\nd0\.example\.com\n(?:.*\n)*on hold since .* by rollout \S+, rolled back: wave 1/,
      next: /on hold since .* Only "edgewise apply --retry-held" sends it again/,
    },
    notified: [],
  },
]

/** Writes a notification as a line. */
function formatLine(body: string): string {
  const notification = JSON.parse(body) as Notification
  return [notification.time, ...listLines(notification)].join(' · ')
}

/** Leaves out what is of one replica: its role, its last fetch, and the time of its pages. */
function compare(pages: ReadonlyMap<string, string>): [path: string, lines: string[]][] {
  const own = / as of | As of /
  return [...pages].map(([path, text]) => [
    path,
    text
      .replaceAll(/^(?:Role|Last fetch|Works on|As of|Time)\n.*\n/gm, '')
      .split('\n')
      .filter((line) => !own.test(line) && !line.startsWith('commit 0'))
      .map((line) => line.replace(/\(not possible: (.*)\) It is not known who may: .*/, '[$1]')),
  ])
}

/** Keeps what is left of a night for a person who tries to answer. */
function keep(pages: Night['pages'], lines: string[], folder: string): void {
  for (const [role, texts] of pages) {
    mkdirSync(join(folder, role), { recursive: true })
    for (const [path, text] of texts) {
      const file = path === '/' ? 'overview' : path.slice(1).replaceAll('/', '-')
      writeFileSync(join(folder, role, `${file}.txt`), `${text}\n`)
    }
  }
  writeFileSync(join(folder, 'notifications.txt'), `${lines.join('\n')}\n`)
}

it('who has seen none of ten things answers from pages, or from notifications', async () => {
  const { pages, early, notifications, violations } = await spendNight()
  const lines = notifications.map(formatLine)
  const folder = process.env['EDGEWISE_NIGHT_FOLDER']
  if (folder !== undefined) keep(pages, lines, folder)
  expect(violations).toEqual([])

  expect([...pages.keys()].toSorted()).toEqual(['leader', 'standby'])
  const [leader = new Map(), standby = new Map()] = ['leader', 'standby'].map((role) =>
    pages.get(role),
  )
  expect(compare(standby)).toEqual(compare(leader))
  for (const [role, texts] of pages) {
    const open = incidents.flatMap(({ name, pages: answers }) =>
      Object.entries(answers).flatMap(([question, answer]) =>
        [...texts.values()].some((text) => answer.test(text)) ? [] : [`${name}: ${question}`],
      ),
    )
    expect([role, open]).toEqual([role, []])
  }
  // Replicas that began with an earlier commit know as well what is on hold.
  for (const text of early.values())
    expect(text).toMatch(/Needs attention\n(?:.*\n)*?3 changes on hold since .*rolled back: wave 1/)

  expect(lines.length).toBeLessThanOrEqual(maxNotifications)
  const untold = incidents.flatMap(({ name, notified }) => {
    const isTold = lines.some((line) => notified.every((text) => text.test(line)))
    return isTold ? [] : [name]
  })
  expect(untold).toEqual([])
  // What is on hold was told with its rollout, and is no drift.
  expect(lines.filter((line) => /Drift: .*d0\.example\.com/.test(line))).toEqual([])
  // Nothing failed: the replica that took over applied what the one before it had begun.
  expect(lines.filter((line) => line.includes('is not applied'))).toEqual([])
})
