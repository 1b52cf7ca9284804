import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: unknown = runInNewContext('gc')

/** Measures the bytes of all objects that are in use. */
export function measureHeap(): number {
  if (typeof collectGarbage !== 'function') throw new TypeError('expected a garbage collector')
  collectGarbage()
  return process.memoryUsage().heapUsed
}
