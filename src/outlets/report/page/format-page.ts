import { formatDuration, formatNoun } from '../../../core/model/page/page-words.ts'
import { packPage } from '../../../core/model/page/packed-page.ts'
import type { Page, PageApply, PageLine, PagePart } from '../../../core/model/page/page.ts'
import { fitPage } from './fit-page.ts'
import { formatRollout } from './format-rollout.ts'
import { formatReport } from './format-report.ts'
import { formatJson, formatList, formatNames, show } from './html.ts'
import type {
  PageAnswer,
  PageEffectGroup,
  PageWitness,
} from '../../../core/model/page/page-effects.ts'
import { classTitles } from '../effects/describe-effects.ts'
import { symbols } from '../../../core/model/change.ts'
import { formatCount, formatTime, pluralize } from '../../../core/model/text/words.ts'
import { formatTable } from './format-table.ts'

/**
 * Formats a page as one HTML file, which needs no network and allows none. Every text of the page
 * may be hostile: it is escaped, and only the script and the style of this program run.
 *
 * @param nav navigation bar of a server, which then has to send the policy
 */
export function formatPage(page: Page, nav: string | null = null): string {
  return formatFitted(fitPage(page), nav)
}

/** Stands in a page where a server has its navigation bar; texts have no such mark. */
export const navPlace = '<!-- nav -->'

/** Sets the navigation bar of a server into a page with its place. */
export function formatServed(page: string, nav: string): string {
  return page.replace(navPlace, () => nav)
}

function formatFitted({ sides, ...shared }: Page, nav: string | null): string {
  // The policy of a server does not allow the script that tries requests.
  const hasTrials = nav === null && sides !== undefined
  const page: Page = hasTrials ? { ...shared, sides } : shared
  const { waves, rollback = null, applies } = page
  const shown = { summary: formatPace(page), hasFilters: page.changes.length > 0 }
  const list = applies === undefined ? formatChanges(page) : formatHistoryTable(applies)
  const content = `${formatEffects(page)}${formatRollout({ about: null, waves, rollback }, shown)}
<div id="view">${list}</div>`
  const data = formatJson('data', packPage(page))
  return formatReport(page, content, {
    data,
    nav,
    hasEffects: page.effects !== undefined,
    hasTrials,
  })
}

/** Formats the number of writes, and how long they take at least; empty for none. */
function formatPace({ writes, waves, callsPerMinute }: Page): string {
  if (writes.length === 0) return ''
  const ends = waves.flatMap(({ times }) => (times === null ? [] : times.to + times.waitSeconds))
  const whole = ends.reduce((last, end) => Math.max(last, end), 0)
  return (
    `${formatNoun(writes.length, 'write')} at ${callsPerMinute} calls a minute` +
    (whole > 0 ? `: at least ${formatDuration(whole)}` : '')
  )
}

/** Groups before the others are opened, named domains of one. */
const [visibleGroups, maxNames] = [8, 300]

/**
 * Formats what a plan does to requests, and the place of the box in which others are tried; empty
 * for a page without effects.
 */
function formatEffects({ effects, items: changed }: Page): string {
  if (effects === undefined) return ''
  const { counts, hint, left, witnesses } = effects
  const groups = effects.groups.filter((group) => !isOpen(group))
  const entries = groups.map((group, i) => {
    const title = classTitles[group.class]
    const isFirst = groups[i - 1]?.class !== group.class
    const heading = isFirst ? `<h3>${title.slice(0, 1).toUpperCase()}${title.slice(1)}</h3>` : ''
    return `<li>${heading}${formatGroup(group, changed)}</li>`
  })
  const more = left === 0 ? [] : [`<li>and ${formatNoun(left, 'more group')}</li>`]
  const all = [...entries, ...more]
  const fold = { visible: visibleGroups, max: all.length, others: 'more groups' }
  const traced = `<section class="panel" data-effects aria-labelledby="effects">
<h2 id="effects">What visitors notice</h2>
<p>${show(counts)}</p>
${all.length === 0 ? '' : formatList(all, { ...fold, className: 'groups' })}
${formatOpen(effects.groups.filter(isOpen), changed)}
${hint === '' ? '' : `<p class="note">${show(hint)}</p>`}</section>`
  const found = witnesses.length === 0 ? '' : formatWitnesses(witnesses, changed)
  return `<div class="effects">${counts === '' ? '' : traced}${found}</div>\n`
}

/** Tests whether it is not known on either side what is answered, for the same reasons. */
function isOpen({ answers }: PageEffectGroup): boolean {
  return answers.length > 0 && answers.every(({ before, after }) => before === after)
}

/** Formats the groups of which nothing is known, folded; empty for none. */
function formatOpen(groups: PageEffectGroup[], changed: string[]): string {
  if (groups.length === 0) return ''
  const count = groups.reduce((sum, group) => sum + group.count, 0)
  const entries = groups.map((group) => `<li>${formatGroup(group, changed)}</li>`)
  const title = `${formatNoun(count, 'request')} unknown before and after`
  return `<details><summary>${title}</summary><ul class="groups">${entries.join('')}</ul></details>`
}

function formatWitnesses(witnesses: PageWitness[], changed: string[]): string {
  const entries = witnesses.map(({ item, domains, lines }) => {
    const described = lines.map((line) => `<p>${show(line)}</p>`).join('')
    const names = formatNames(formatNoun(domains.length, 'domain'), domains, maxNames)
    const shown = `${formatCause(item, changed)}${described}<div class="soft">${names}</div>`
    return `<li><article class="effect">${shown}</article></li>`
  })
  const fold = { visible: visibleGroups, max: entries.length, others: 'more kinds of change' }
  return `<section class="panel" aria-labelledby="witnesses">
<h2 id="witnesses">What each change does</h2>
${formatList(entries, { ...fold, className: 'groups' })}</section>`
}

function formatGroup(group: PageEffectGroup, changed: string[]): string {
  const { answers, others, count, domains, items, examples } = group
  const [only = ''] = domains
  const requests = formatNoun(count, 'request')
  const where =
    domains.length === 1
      ? `<p>${requests} of ${show(only)}</p>`
      : formatNames(`${requests} of ${formatNoun(domains.length, 'domain')}`, domains, maxNames)
  const causes = items.map((item) => formatCause(item, changed)).join(', ')
  const urls = examples.map((url) => `<li><code>${show(url)}</code></li>`).join('')
  const rest =
    others.length === 0
      ? ''
      : `<details><summary>${formatNoun(others.length, 'more answer')}</summary>` +
        `${formatAnswers(others)}</details>`
  return (
    `<article class="effect" data-class="${group.class}">${formatAnswers(answers)}${rest}` +
    `<div class="soft">${where}<p>by ${causes}</p></div><ul class="examples">${urls}</ul></article>`
  )
}

/** Formats an item, as a link that filters the changes if it is among them. */
function formatCause(item: string, changed: string[]): string {
  return changed.includes(item)
    ? `<a href="#item=${encodeURIComponent(item)}">${show(item)}</a>`
    : show(item)
}

function formatAnswers(answers: PageAnswer[]): string {
  const rows = answers.map(({ field, before, after }) => {
    const change =
      before === after
        ? `may change: it is ${show(before)}`
        : `<del>${show(before)}</del> <span aria-hidden="true">→</span> <ins>${show(after)}</ins>`
    return `<div><dt>${show(field)}</dt><dd>${change}</dd></div>`
  })
  return `<dl class="answers">${rows.join('')}</dl>`
}

/** Parts that are listed, lines of each and all characters of lines, and named domains of each. */
const [maxParts, maxLines, maxCharacters, maxDomains] = [100, 40, 60_000, 20]

/**
 * Formats the changes as a list for a browser that runs no scripts, as where a page is shown in a
 * sandbox. The script replaces it by the matrix and the cards.
 */
function formatChanges(page: Page): string {
  if (page.changes.length === 0) return ''
  const domains = new Map<number, string[]>()
  for (const { part, domain } of page.changes) {
    const names = domains.get(part) ?? []
    if (names.length === 0) domains.set(part, names)
    names.push(page.domains[domain] ?? '')
  }
  let room = maxCharacters
  const cards: string[] = []
  for (const [position, names] of domains) {
    const part = page.parts[position]
    if (part === undefined || cards.length === maxParts || room <= 0) break
    const card = formatCard(part, page.items[part.item] ?? '', names, room)
    room -= card.used
    cards.push(card.html)
  }
  const rest = domains.size - cards.length
  const more = rest === 0 ? '' : `<p class="none">… and ${pluralize(rest, 'other')}.</p>`
  return (
    '<p class="callout">This browser runs no scripts: it has no matrix and no filters.</p>' +
    '<section class="panel" data-static aria-labelledby="static">' +
    `<h2 id="static">${pluralize(page.changes.length, 'change')}</h2>` +
    `${cards.join('')}${more}</section>`
  )
}

function formatCard(
  part: PagePart,
  item: string,
  names: string[],
  room: number,
): { html: string; used: number } {
  const { action, lines, note, isDestructive } = part
  let used = 0
  const shown: PageLine[] = []
  for (const line of lines.slice(0, maxLines)) {
    used += line.text.length
    if (used > room) break
    shown.push(line)
  }
  const rest = lines.length - shown.length
  const text = [
    ...shown.map(
      (line) =>
        `${line.action === null ? ' ' : symbols[line.action]} ` +
        `${'  '.repeat(Math.min(line.indent, 24))}${line.text}`,
    ),
    ...(rest === 0 ? [] : [`… and ${pluralize(rest, 'more line', 'more lines')}`]),
  ].join('\n')
  const more =
    names.length > maxDomains ? ` and ${formatCount(names.length - maxDomains)} more` : ''
  const code = text.split('\n').map(show).join('\n')
  const html =
    `<article class="card" data-action="${action}">` +
    `<h3>${symbols[action]} <code>${show(item)}</code> ${action}` +
    `${isDestructive ? ' <strong class="tag destructive">Destructive</strong>' : ''}</h3>` +
    (note === '' ? '' : `<p class="note">${show(note)}</p>`) +
    (text === '' ? '' : `<pre class="lines static">${code}</pre>`) +
    `<p class="note">${show(names.slice(0, maxDomains).join(', '))}${more}</p></article>`
  return { html, used }
}

/** Most rows of the table. */
const maxRows = 300

/** Formats the latest applies as a table, which is read without scripts; empty for none. */
function formatHistoryTable(applies: PageApply[]): string {
  if (applies.length === 0) return ''
  const left = applies.length - maxRows
  return formatTable(
    {
      caption: 'Applies',
      columns: ['Outcome', 'Apply', 'Started', 'Took', 'Author', 'Manifests', 'Writes', 'Items'],
      rows: applies.slice(0, maxRows).map((apply) => {
        const { id, outcome, startedAt, took, author, tree, writes, parts } = apply
        const html = `<b class="tag" data-outcome="${show(outcome)}">${show(outcome)}</b>`
        return [{ html }, id, formatTime(startedAt), took, author ?? '', tree ?? '', writes, parts]
      }),
      note:
        left > 0 ? `${formatCount(left)} earlier ones: "edgewise state history" lists them.` : '',
    },
    // The page was built without secrets.
    (text) => text,
  )
}
