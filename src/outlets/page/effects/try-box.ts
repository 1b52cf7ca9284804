import type { EffectClass } from '../../../core/effects/compare.ts'
import type { PageAnswer, PageSides } from '../../../core/model/page/page-effects.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import { classTitles } from '../../report/effects/describe-effects.ts'
import { h } from '../dom.ts'
import { createTrial, type Tried } from './try-request.ts'

/** Creates the box in which a request is traced before and after the plan. */
export function createTryBox(sides: PageSides): HTMLElement {
  const attempt = createTrial(sides)
  const [domain = ''] = sides.domains[0] ?? []
  const example = `https://${domain.startsWith('.') ? 'www' : ''}${domain}/`
  const plain = { spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off' }
  const url = h('input', { ...plain, name: 'url', value: example, inputmode: 'url' })
  const method = h('input', { ...plain, name: 'method', placeholder: 'GET' })
  const ip = h('input', { ...plain, name: 'ip', placeholder: 'on no list' })
  const headers = h('textarea', {
    ...plain,
    name: 'headers',
    rows: 3,
    placeholder: 'referer: https://www.example.com/',
    'aria-describedby': 'try-headers',
  })
  const hint = h(
    'p',
    { class: 'soft', id: 'try-headers' },
    '“Name: value” on each line. A name alone: it is absent. * alone: so are all others.',
  )
  const result = h('div', { role: 'status', 'data-tried': true })
  const form = h(
    'form',
    { class: 'try' },
    label('URL', url, 'wide'),
    label('Method', method),
    label('Client address', ip),
    label('Headers', headers, 'wide'),
    hint,
    h('button', { class: 'button primary' }, 'Try'),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const [at, by, from] = [url.value, method.value, ip.value]
    result.replaceChildren(
      ...describe(attempt({ url: at, method: by, ip: from, headers: headers.value })),
    )
  })
  return h(
    'section',
    { class: 'panel', 'aria-labelledby': 'try' },
    h('h2', { id: 'try' }, 'Try a request'),
    sides.left === 0 ? null : h('p', { class: 'note' }, describeLeft(sides)),
    form,
    result,
  )
}

function describeLeft({ domains, left }: PageSides): string {
  const all = domains.length + left
  return `Only the first ${domains.length} of ${all} changed domains can be tried.`
}

function label(text: string, box: HTMLElement, className = ''): HTMLElement {
  return h('label', { class: `field ${className}`.trim() }, h('span', {}, text), box)
}

function describe(tried: Tried): Node[] {
  if ('fault' in tried)
    return [h('p', { class: 'callout fault', 'data-tone': 'problem' }, tried.fault)]
  const { said, answers } = tried
  const select = (name: EffectClass) => answers.filter((answer) => answer.class === name)
  const noticed = (['visible', 'content'] as const).flatMap((name) => {
    const own = select(name)
    return own.length === 0 ? [] : [h('h3', {}, classTitles[name]), createAnswers(own)]
  })
  const hidden = select('internal')
  const summary = h('summary', {}, `${pluralize(hidden.length, 'answer')} that nobody notices`)
  const rest = hidden.length === 0 ? [] : [h('details', {}, summary, createAnswers(hidden))]
  const what = hidden.length === 0 ? 'nothing' : 'nothing that visitors notice'
  const note = h('p', { class: 'note' }, `The plan changes ${what} for this request.`)
  const isSame = said.before === said.after && noticed.length === 0
  const tell = (text: string) => h('p', { class: 'said' }, text)
  return isSame
    ? [tell(said.after), note, ...rest]
    : [
        h('h3', {}, 'Before'),
        tell(said.before),
        h('h3', {}, 'After'),
        tell(said.after),
        ...noticed,
        ...rest,
      ]
}

function createAnswers(answers: PageAnswer[]): HTMLElement {
  const list = h('dl', { class: 'answers' })
  for (const { field, before, after } of answers) {
    const arrow = h('span', { 'aria-hidden': 'true' }, '→')
    const change =
      before !== after
        ? [h('del', {}, before), ' ', arrow, ' ', h('ins', {}, after)]
        : [`may change: it is ${before}`]
    list.append(h('div', {}, h('dt', {}, field), h('dd', {}, ...change)))
  }
  return list
}
