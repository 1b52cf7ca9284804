import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../src/core/model/json.ts'

/** Loads the schema of a machine output, by file name. */
export function loadOutputSchema(name: string): JsonObject {
  return JSON.parse(
    readFileSync(new URL(`../../schemas/output/${name}.schema.json`, import.meta.url), 'utf8'),
  ) as JsonObject
}

/** Lists the schema errors of a machine output. */
export function listSchemaErrors(name: string, output: unknown): string[] {
  const validate =
    validators.get(name) ??
    new Ajv2020({ allErrors: true, strict: true, strictTypes: true }).compile(
      loadOutputSchema(name),
    )
  validators.set(name, validate)
  validate(output)
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
}

const validators = new Map<string, ValidateFunction>()
