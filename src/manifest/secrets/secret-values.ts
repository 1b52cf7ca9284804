import { listReferencedNames } from '../../core/model/secret.ts'
import type { SecretSources } from './secret-sources.ts'

/** Commands that print values of secrets. */
export type SecretPrograms = Omit<SecretSources, 'lookUp'>

const noPrograms: SecretPrograms = {
  isCommand: () => false,
  explain: () => 'its value is not known',
  run: (name) => Promise.reject(new TypeError(`expected a command for the secret ${name}`)),
}

/** Looks up the values of secrets, each once per process. */
export class SecretValues {
  readonly #lookUp: (name: string) => string | null
  readonly #programs: SecretPrograms
  readonly #values = new Map<string, string | null>()
  readonly #unresolved = new Set<string>()

  /**
   * @param lookUp returns the value of a secret, or null if it is not available
   * @param programs commands for values that are not available
   */
  constructor(lookUp: (name: string) => string | null, programs = noPrograms) {
    this.#lookUp = lookUp
    this.#programs = programs
  }

  /** Lists the names in a reference (a name, or a template) whose values are not available. */
  listMissing(reference: string): string[] {
    return listReferencedNames(reference).filter((name) => this.#find(name) === null)
  }

  /** Returns the values of these secrets; null if one is not available. */
  findAll(names: string[]): string[] | null {
    const values = names.map((name) => {
      const value = this.#find(name)
      if (value === null) this.#unresolved.add(name)
      return value
    })
    return values.includes(null) ? null : (values as string[])
  }

  /** Lists the available values by the names of their secrets. */
  listValues(): Map<string, string> {
    const known = [...this.#values].filter((entry): entry is [string, string] => entry[1] !== null)
    return new Map(known)
  }

  /** Tests whether the value of a secret comes from a command, which runs after consent. */
  isCommand(name: string): boolean {
    return this.#programs.isCommand(name)
  }

  /** Explains in a clause why the value of a secret is not available. */
  explain(name: string): string {
    return this.#programs.explain(name)
  }

  /**
   * Runs the commands of these secrets, each once per process. Only allowed after consent to writes
   * that contain them.
   *
   * @throws EdgewiseError `access` if one of them fails or prints nothing
   */
  async obtain(names: Iterable<string>, signal: AbortSignal): Promise<void> {
    for (const name of new Set(names)) {
      if (this.#find(name) !== null) continue
      this.#values.set(name, await this.#programs.run(name, signal))
      this.#unresolved.delete(name)
    }
  }

  /** Lists the secrets that were looked for and are not available. */
  listUnresolved(): string[] {
    return [...this.#unresolved].toSorted()
  }

  /** Lists the values that were found. */
  list(): string[] {
    return [...this.#values.values()].filter((value) => value !== null)
  }

  #find(name: string): string | null {
    let value = this.#values.get(name)
    if (value === undefined) {
      value = this.#lookUp(name)
      this.#values.set(name, value)
    }
    return value
  }
}
