// Loaded before `edgewise serve` with --require: at each SIGUSR2 it writes the longest time for
// which the event loop was held since the last one, ms, into the log.
const { monitorEventLoopDelay } = require('node:perf_hooks')
const { isMainThread } = require('node:worker_threads')

if (isMainThread && process.argv.includes('serve')) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('SIGUSR2', () => {
    const message = `held for ${Math.round(delay.max / 1e6)} ms`
    process.stderr.write(`${JSON.stringify({ level: 'info', message })}\n`)
    delay.reset()
  })
}
