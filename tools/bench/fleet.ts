import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const manifestBytes = 600
const profiles = {
  base: '  https: {cert_id: 1001, http2: on, force_https: 301}\n  timeout: {time: 60}\n',
  video: '  connect_timeout: {origin_connect_timeout: 5}\n',
}

/**
 * Writes a workspace with a manifest of 600 bytes for each domain, which uses two profiles. The
 * same number of domains always gives the same files.
 *
 * @param settings keys of edgewise.yaml, as YAML
 */
export function writeFleet(folder: string, domains: number, settings: string): void {
  for (const name of ['domains', 'profiles']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'edgewise.yaml'), `version: 1\n${settings}\n`)
  for (const [name, config] of Object.entries(profiles))
    writeFileSync(join(folder, 'profiles', `${name}.yaml`), `profile: ${name}\nconfig:\n${config}`)
  for (let i = 0; i < domains; i++) writeManifest(folder, i, 0)
}

/** Writes the manifest of one domain; another `version` has another comment. */
export function writeManifest(folder: string, i: number, version: number): void {
  writeFileSync(join(folder, 'domains', `d${i}.yaml`), buildManifest(i, version))
}

/**
 * Builds a manifest of 600 bytes. Each domain has an origin of its own; hosts and lists are shared,
 * so that fleets of all sizes are alike.
 */
export function buildManifest(i: number, version: number): string {
  const text =
    `# Manifest of shop ${i}, version ${version}\n` +
    `domain: d${i}.example.com\n` +
    'profiles: [base, video]\n' +
    'config:\n' +
    '  origin:\n' +
    `    default_master: [${buildMasters(i).join(', ')}]\n` +
    '    origin_mode: https\n' +
    `  origin_host: {host: "o${i % 40}.origin.example.net"}\n` +
    '  ip_black_list:\n' +
    `    list: [${buildDenied(i).join(', ')}]\n`
  return `${text}# ${'x'.repeat(manifestBytes - text.length - 3)}\n`
}

/** Writes the payloads of all items of a fleet, as `import` loads them. */
export function writeConfigs(file: string, domains: number): void {
  const lines = Array.from({ length: domains }, (_, i) => {
    const config = {
      https: { cert_id: 1001, http2: 'on', force_https: 301 },
      timeout: { time: '60' },
      connect_timeout: { origin_connect_timeout: '5' },
      origin: { default_master: buildMasters(i).join(','), origin_mode: 'https' },
      origin_host: { host: `o${i % 40}.origin.example.net` },
      ip_black_list: { list: buildDenied(i) },
    }
    return `"d${i}.example.com": ${JSON.stringify(config)}`
  })
  writeFileSync(file, `{${lines.join(',\n')}}`)
}

/** Builds two addresses; the second is one of the 131,072 for benchmarks (RFC 2544). */
function buildMasters(i: number): string[] {
  return [`192.0.2.${i % 250}`, `198.${18 + ((i >> 16) & 1)}.${(i >> 8) & 255}.${i & 255}`]
}

function buildDenied(i: number): string[] {
  return [`203.0.113.${i % 250}`, `203.0.113.${(i + 7) % 250}`]
}
