import { unpackPage, type PackedPage } from '../../../src/core/model/page/packed-page.ts'
import type { Page } from '../../../src/core/model/page/page.ts'

/** Parses the data in a page of `formatPage`; the health of waves is not in it. */
export function parsePage(file: string): Page {
  const start = '<script type="application/json" id="data">'
  const from = file.indexOf(start) + start.length
  // No text of the data has a tag.
  return unpackPage(JSON.parse(file.slice(from, file.indexOf('</script>', from))) as PackedPage)
}
