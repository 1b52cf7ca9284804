import type { Page } from '../../src/model/page.ts'
import { unpackPage, type PackedPage } from '../../src/page/unpack-page.ts'

/** Parses the data in the HTML of a page. */
export function parsePage(html: string): Page {
  const [, data = ''] =
    /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html) ?? []
  return unpackPage(JSON.parse(data) as PackedPage)
}
