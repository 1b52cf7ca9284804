import { createUnwrittenError } from '../../files/explain-failure.ts'
import { formatJson } from '../../core/model/json.ts'
import { append } from '../../core/model/lists.ts'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import { join, resolve } from 'node:path'
import { parseCheck } from '../../operations/observation/earlier-reads.ts'
import { fleetStates, summarizeStates, type FleetRow } from '../../core/model/page/fleet.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { formatTime, pluralize } from '../../core/model/text/words.ts'
import { refuseLinkIn } from '../../files/find-link.ts'
import { claimFolder, removeOthers, type OwnFolder } from '../../files/own-folder.ts'
import { loadText } from '../../files/load-bounded.ts'
import { replaceBelow } from '../../files/replace-file.ts'
import { loadFleet, type LoadedFleet } from '../../operations/fleet.ts'
import { findLineLinks } from '../../operations/history/line-links.ts'
import { createPageAbout } from '../../operations/history/page-about.ts'
import { runBlocking } from '../../operations/runtime/with-pool.ts'
import type { Change } from '../../core/model/change.ts'
import { namePage } from '../../outlets/report/domain/fleet-row.ts'
import {
  describeDomainTab,
  formatDomainPage,
  formatDomainParts,
  type DomainAbout,
} from '../../outlets/report/domain/format-domain-page.ts'
import { describeFleetTab, formatFleetPage } from '../../outlets/report/domain/format-fleet-page.ts'
import {
  formatOpenChanges,
  listOpenChanges,
  listRefused,
} from '../../outlets/report/domain/open-changes.ts'
import { formatShell } from '../../outlets/report/page/format-shell.ts'
import { style } from '../../outlets/report/page/generated/page-assets.ts'
import { findCheckout } from '../../state/git/find-repository.ts'
import type { CommandContext } from '../io.ts'
import { buildObserve, type ObserveOptions } from '../observe.ts'
import { openWorkspace } from '../open.ts'
import { createOutput, saveOutput } from '../save-file.ts'
import type { ServedDomain, ServedFleet } from '../../server/pages/domain-pages.ts'

export interface HtmlOptions extends ObserveOptions {
  /** Folder of the pages. */
  html: string
}

/** Folder of the pages of domains, file of their style, and file that marks a folder of pages. */
const [domainFolder, styleFile, marker] = ['domains', 'style.css', 'edgewise-report.txt']
/** Latest applies that a page of a server may mark, and refused items that an overview names. */
const [maxMarks, maxRefused] = [200, 20]
/** Largest file of what a drift check has found, bytes. */
const maxCheckBytes = 128 * 1024 * 1024
const markerText =
  'Pages of "edgewise report --html". The next run replaces them, and removes those of domains\n' +
  'that are gone. Without this file it refuses to write here.\n'

/** Writes the fleet and each domain as pages into a folder. */
export async function writeHtml(context: CommandContext, options: HtmlOptions): Promise<void> {
  const { io } = context
  const workspace = openWorkspace(context, 'available')
  const observing = await buildObserve(context, workspace, options)
  const folder = claim(resolve(io.cwd, options.html), workspace, io.machine.processName)
  const fleet = await loadFleet(workspace, observing, io)
  for (const note of fleet.notes) context.note(note)
  const { about, shared } = await describeFleet(workspace, fleet, '../index.html', io)
  const rows = runBlocking(io, () => writeDomains(folder, fleet, shared, context))
  const list = formatFleetPage(rows, { ...about, address: [`${domainFolder}/`, '.html'] })
  save(folder, 'index.html', formatShell({ ...describeFleetTab(rows), main: list, nav: null }))
  const removed = removeGone(folder, rows)
  const states = rows.map(({ state }) => state)
  const pages = pluralize(rows.length, 'page')
  const gone = removed === 0 ? '' : `; ${pluralize(removed, 'page')} removed`
  context.print(
    () => buildReportJson(rows, removed),
    () =>
      `${summarizeStates(states, 'domain')}\n` +
      `Written to ${join(options.html, 'index.html')}: the list, and ${pages} of domains${gone}.\n`,
  )
}

/**
 * Writes the list of the fleet, and the page of each domain, into one file for a server.
 *
 * @param checkFile what the last drift check of the server has found
 */
export async function writePages(
  context: CommandContext,
  file: string,
  checkFile?: string,
): Promise<void> {
  const { io } = context
  const workspace = openWorkspace(context, 'available')
  const check = checkFile === undefined ? null : parseCheck(loadText(checkFile, maxCheckBytes))
  await saveOutput(createOutput(file, workspace, io), await formatPages(workspace, check, io))
}

/**
 * Formats the list of the fleet, and the content of the page of each domain: a line of JSON with
 * the list, and the name and the length (UTF-16) of each page, and then the pages.
 */
export async function formatPages(
  workspace: LoadedWorkspace,
  check: ReturnType<typeof parseCheck> | null,
  io: Outside,
): Promise<string> {
  const fleet = await loadFleet(workspace, { earlier: check?.reads }, io)
  const { about, shared: own } = await describeFleet(workspace, fleet, '/domains', io)
  const checkedAt = check === null ? null : new Date(check.atMs).toISOString()
  const shared = { ...own, checkedAt }
  const compared: [string, string] = [
    'Drift',
    checkedAt === null
      ? 'not looked for by this replica yet'
      : `as the check of ${formatTime(checkedAt)} found it`,
  ]
  const [rows, texts, open]: [FleetRow[], string[], Change[]] = [[], [], []]
  const refused: ServedFleet['refused'] = []
  for (const { sheet, row, applies } of fleet.list()) {
    const page: ServedDomain = {
      ...describeDomainTab(sheet),
      domain: sheet.domain,
      drifted: row.drifted,
      ...formatDomainParts(sheet, { ...shared, applies }),
      applies: applies.slice(-maxMarks).map(({ id, startedAt }) => [id, startedAt]),
    }
    texts.push(JSON.stringify(page))
    rows.push(row)
    for (const change of listOpenChanges(sheet)) open.push(change)
    append(refused, listRefused(sheet))
  }
  const facts = [...about.facts, compared]
  const main = formatFleetPage(rows, { ...about, facts, address: ['/domains/', ''] })
  const sentence = summarizeStates(
    rows.map(({ state }) => state),
    'domain',
  )
  const changes = formatOpenChanges(open, workspace.redact)
  const list: ServedFleet = {
    ...describeFleetTab(rows),
    sentence,
    main,
    changes,
    refused: refused.slice(0, maxRefused),
  }
  const pages = rows.map(({ domain }, i) => [namePage(domain), texts[i]?.length ?? 0])
  return formatJson({ list, pages }) + texts.join('')
}

/** Describes what the pages of a fleet have in common. */
async function describeFleet(
  workspace: LoadedWorkspace,
  { notes: warnings }: LoadedFleet,
  home: string,
  io: Outside,
) {
  const { commit, findLink } = await findLineLinks(workspace, io)
  const about = createPageAbout(workspace, io, { target: [], items: [], commit }, [])
  const now = io.clock.now()
  const { redact } = workspace
  return {
    about: { ...about, warnings },
    shared: { workspace: about.workspace, now, home, findLink, redact },
  }
}

function buildReportJson(rows: FleetRow[], removed: number): object {
  const counts = fleetStates.map((state) => [
    state,
    rows.filter((row) => row.state === state).length,
  ])
  const states: object = Object.fromEntries(counts)
  return { format: 'edgewise.report/1', domains: rows.length, states, removed }
}

/** Claims the folder of the pages. @throws EdgewiseError `usage` if it is not free */
function claim(path: string, { root }: Workspace, temporary: string): OwnFolder {
  const folder = { path, marker, text: markerText, folders: [domainFolder], temporary }
  for (const each of [path, join(path, domainFolder)])
    refuseLinkIn(findCheckout(root) ?? root, each)
  const fault = claimFolder(folder)
  if (fault === null) return folder
  if ('code' in fault) throw createUnwrittenError(path, fault.code)
  throw new EdgewiseError(
    'usage',
    `${path} is not written: it has other files, such as "${fault.foreign}"`,
    'Pass an empty folder, one that does not exist, or one that this command has written.',
  )
}

/** Writes the page of each domain, and the style; returns the rows of the list. */
function writeDomains(
  folder: OwnFolder,
  fleet: LoadedFleet,
  shared: Omit<DomainAbout, 'applies'>,
  { phases }: CommandContext,
): FleetRow[] {
  save(folder, styleFile, style)
  const rows: FleetRow[] = []
  const total = fleet.domains.length
  for (const { sheet, row, applies } of fleet.list()) {
    phases.report({ name: 'writing-files', done: rows.length, total })
    const main = formatDomainPage(sheet, { ...shared, applies })
    const shell = { ...describeDomainTab(sheet), main, nav: null, styleFile: `../${styleFile}` }
    save(folder, `${domainFolder}/${nameFile(sheet.domain)}`, formatShell(shell))
    rows.push(row)
  }
  return rows
}

function nameFile(domain: string): string {
  return `${namePage(domain)}.html`
}

function save({ path, temporary }: OwnFolder, name: string, text: string): void {
  const code = replaceBelow(path, name, text, temporary)
  if (code !== null) throw createUnwrittenError(join(path, name), code)
}

function removeGone(folder: OwnFolder, rows: FleetRow[]): number {
  const kept = new Set(rows.map(({ domain }) => nameFile(domain)))
  const removed = removeOthers(folder, domainFolder, /\.html$/, kept)
  if (typeof removed === 'number') return removed
  throw createUnwrittenError(join(folder.path, domainFolder), removed.code)
}
