// Parses all YAML files below a folder with the package `yaml`: what loading is compared with.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const files = readdirSync(process.argv[2], { recursive: true })
for (const file of files)
  if (/\.ya?ml$/.test(file)) parse(readFileSync(join(process.argv[2], file), 'utf8'))
