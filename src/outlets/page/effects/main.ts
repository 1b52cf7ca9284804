/** Adds to the effects of a plan on requests a box in which others are tried. */
import type { PackedPage } from '../../../core/model/page/packed-page.ts'
import { createTryBox } from './try-box.ts'

const panel = document.querySelector('.effects')
const data = document.querySelector('#data')?.textContent ?? null
const sides = data === null ? undefined : (JSON.parse(data) as PackedPage).sides
if (panel !== null && sides !== undefined && sides.domains.length > 0)
  panel.append(createTryBox(sides))
// The link of an item filters the changes by its hash, and shows them.
panel?.addEventListener('click', ({ target }) => {
  const link = target instanceof Element ? target.closest('a[href^="#item="]') : null
  if (link !== null) document.querySelector('#view')?.scrollIntoView()
})
