/** Parses what `git cat-file --batch` prints for some files; without those that are not there. */
export function parseBatch(out: Buffer, paths: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>()
  let at = 0
  for (const path of paths) {
    const end = out.indexOf('\n', at)
    if (end === -1) break
    const [, size] = / blob (\d+)$/.exec(out.toString('utf8', at, end)) ?? []
    at = end + 1
    if (size === undefined) continue
    texts.set(path, out.toString('utf8', at, at + Number(size)))
    at += Number(size) + 1
  }
  return texts
}
