/** Attributes of an element; null and false for none, true for an empty one. */
type Attributes = Record<string, string | number | boolean | null>

/** Creates an element with attributes and children; texts become text nodes. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string | null)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  setAttributes(element, attributes)
  element.append(...children.filter((child) => child !== null))
  return element
}

const isServed = document.querySelector('nav.live') !== null

/** Creates a name, in these parts, which leads to its page on a server. */
export function createName(
  kind: 'domains' | 'rollouts',
  name: string,
  ...parts: Node[]
): HTMLElement {
  const shown = parts.length === 0 ? [name] : parts
  if (!isServed) return h('span', {}, ...shown)
  return h('a', { href: `/${kind}/${encodeURIComponent(name)}` }, ...shown)
}

/** Creates the label of a field of a form, with the field. */
export function createLabel({ label, box }: { label: string; box: Node }): HTMLElement {
  return h('label', { class: 'field' }, h('span', {}, label), box)
}

/** Creates a list of facts, and the function that adds one. */
export function createFacts() {
  const facts = h('dl', { class: 'rowfacts' })
  const add = (label: string, ...value: (Node | string)[]) =>
    facts.append(h('dt', {}, label), h('dd', {}, ...value))
  return { facts, add }
}

/** Makes an element the only one within another that Tab reaches, and moves the focus there. */
export function focusOnly(within: Element, next: Element | null | undefined): void {
  for (const old of within.querySelectorAll('[tabindex="0"]')) old.setAttribute('tabindex', '-1')
  if (!(next instanceof HTMLElement)) return
  next.tabIndex = 0
  next.focus({ preventScroll: true })
}

/** Moves the focus to something that has come in place of what had it. */
export function moveFocus(element: Node | undefined): void {
  if (!(element instanceof HTMLElement)) return
  const usable = element.querySelector('button')
  if (usable === null) element.tabIndex = -1
  const target = usable ?? element
  target.focus({ preventScroll: true })
}

/** Lights an element, or no longer. */
export function toggleLit(element: Element, isLit: boolean): void {
  if (isLit !== element.hasAttribute('data-lit')) element.toggleAttribute('data-lit', isLit)
}

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== false)
      element.setAttribute(name, value === true ? '' : `${value}`)
}
