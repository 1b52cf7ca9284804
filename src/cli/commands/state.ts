import type { Command } from 'commander'
import { formatExamples, type Declare } from './declare.ts'
import { declareForget } from './state-forget.ts'
import { declareHistory } from './state-history.ts'
import { declareList } from './state-list.ts'
import { declareMigrate } from './state-migrate.ts'
import { declareMove } from './state-move.ts'
import { declarePrune } from './state-prune.ts'
import { declareShow } from './state-show.ts'
import { declareUnlock } from './state-unlock.ts'

/** `edgewise state`: parent of the commands that show state or change it. */
export function declareState(program: Command, declare: Declare): void {
  const state = program
    .command('state')
    .description('show state, or change it')
    .addHelpText('after', formatExamples(['state list', 'state show www.example.com']))
  declareList(state, declare)
  declareShow(state, declare)
  declareHistory(state, declare)
  declareForget(state, declare)
  declareMove(state, declare)
  declareMigrate(state, declare)
  declarePrune(state, declare)
  declareUnlock(state, declare)
}
