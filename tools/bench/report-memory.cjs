// Loaded before the program with --require: writes its peak memory, MB, to the file that
// EDGEWISE_BENCH_MEMORY names when it exits, and the memory at the time ten times a second.
const { appendFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

const file = process.env.EDGEWISE_BENCH_MEMORY
if (isMainThread && file !== undefined) {
  const bytesInMb = 1_000_000
  const report = (kind, mb) => appendFileSync(file, `${kind} ${Date.now()} ${Math.round(mb)}\n`)
  setInterval(() => report('now', process.memoryUsage.rss() / bytesInMb), 100).unref()
  process.once('exit', () => report('peak', (process.resourceUsage().maxRSS * 1024) / bytesInMb))
}
