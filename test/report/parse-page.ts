import type { Page } from '../../src/model/page.ts'
import type { PackedPage } from '../../src/model/packed-page.ts'
import { unpackPage } from '../../src/page/unpack-page.ts'

/** Parses the data in the HTML of a page. */
export function parsePage(html: string): Page {
  const [, data = ''] =
    /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html) ?? []
  return unpackPage(JSON.parse(data) as PackedPage)
}
