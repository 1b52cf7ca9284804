/** Lets the skip link move the focus and keep the hash, which has the filters. */
export function skipTo(target: HTMLElement): void {
  target.tabIndex = -1
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault()
    target.focus()
    target.scrollIntoView()
  })
}
