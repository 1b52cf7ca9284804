import type { StoreName } from '../../core/model/config.ts'
import { stopFile } from '../../core/model/generated/state-validators.ts'
import { parseJson } from '../../core/model/json.ts'
import type { FoundStop, Stop } from '../../core/model/listed-rollout.ts'
import { checkStored } from '../../core/model/text/stored-file.ts'
import { formatFile } from '../format/parse-file.ts'
import type { Register } from './register.ts'

/** The stop of all writes of an account, for all runners that share the store. */
export interface AccountStop {
  readonly store: StoreName
  /** Loads the stop; null if nothing is stopped. */
  load(): Promise<FoundStop | null>
  /** Records a stop, and returns it; that of before if the account is stopped already. */
  record(stop: Stop): Promise<FoundStop>
  /** Removes the stop, readable or not. */
  remove(): Promise<void>
}

/** Opens the stop in a register, which is changed without the lock of the account. */
export function openAccountStop(register: Register, store: StoreName): AccountStop {
  const parse = (text: string): FoundStop => {
    const checked = checkStored(parseJson(text), stopFile)
    if ('fault' in checked) return { fault: `${register.location}: ${checked.fault}` }
    const { format: _format, ...stop } = checked.value
    return stop
  }
  return {
    store,
    load: async () => {
      const { text } = await register.read()
      return text === null ? null : parse(text)
    },
    record: async (stop) => {
      for (;;) {
        const { version, text } = await register.read()
        if (text !== null) return parse(text)
        const stored = await register.compareAndSwap(version, formatFile(stopFile, stop))
        if (stored !== null) return stop
      }
    },
    remove: async () => {
      for (;;) {
        const { version, text } = await register.read()
        if (text === null || (await register.compareAndSwap(version, null)) !== null) return
      }
    },
  }
}
