import type { Command } from 'commander'
import { formatExamples, type Declare } from './declare.ts'
import { declareForget } from './state-forget.ts'
import { declareHistory } from './state-history.ts'
import { declareList } from './state-list.ts'
import { declareShow } from './state-show.ts'
import { declareUnlock } from './state-unlock.ts'

/** `edgewise state`: what is below it looks into state, or drops from it. */
export function declareState(program: Command, declare: Declare): void {
  const state = program
    .command('state')
    .description('look into the record, and drop from it')
    .addHelpText('after', formatExamples(['state list', 'state show www.example.com']))
  declareList(state, declare)
  declareShow(state, declare)
  declareHistory(state, declare)
  declareForget(state, declare)
  declareUnlock(state, declare)
}
