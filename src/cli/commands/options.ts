/**
 * Options that several commands share: what they add to a command, and as what the command is given
 * them.
 */
import { InvalidArgumentError, type Command } from 'commander'
import type { ItemKey } from '../../model/item.ts'

/** A part of the domains and items. Empty lists choose all. */
export interface SelectionOptions {
  target: string[]
  item: ItemKey[]
}

/** Adds {@link SelectionOptions}. */
export function addSelectionOptions(command: Command): Command {
  return command
    .option('--target <glob>', 'only domains that match; may be given several times', collect, [])
    .option('--item <item>', 'only this item; may be given several times', collect, [])
}

/** What a plan may do over the guards and over open rollouts. */
export interface GuardOptions {
  /** Items whose grave changes are meant. */
  allow: ItemKey[]
  force?: boolean
  /** Open rollouts of the same domains end where they are. */
  supersede?: boolean
}

/** Adds {@link GuardOptions}. */
export function addGuardOptions(command: Command): Command {
  return command
    .option(
      '--allow <item>',
      'make grave changes of this item, such as certificate 0; may be given several times',
      collect,
      [],
    )
    .option('--supersede', 'end open rollouts of the same domains where they are')
    .option(
      '--force',
      'change more domains or items than guards.maxDomains and guards.maxChanges let',
    )
}

/** Returns what an operation is asked for by {@link GuardOptions}. */
export function buildGuardRequest({
  allow,
  force,
  supersede,
}: GuardOptions): Required<GuardOptions> {
  return { allow, force: force === true, supersede: supersede === true }
}

/** What a command is given that takes the lock. */
export interface LockOptions {
  /** Seconds to wait while another one has it. */
  lockTimeout: number
}

/** Adds {@link LockOptions}. */
export function addLockOptions(
  command: Command,
  description = 'wait so long for an apply to end',
): Command {
  return command.option('--lock-timeout <seconds>', description, createIntegerParser(0, 86_400), 0)
}

/** Reads an option that may be given several times: all of its values. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

/** Reads an option whose value is a whole number, both ends included. */
export function createIntegerParser(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`)
    return value
  }
}
