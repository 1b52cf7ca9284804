import { checks, count, home, list, nameDomain, quote, repeat, writeManifest } from './bomb.ts'
import type { Builder } from './bomb.ts'
import { drawTokens } from './tokens.ts'

type Write = (i: number) => string

/** Bombs of relations: profiles of profiles, globs of domains, settings of settings, and JSON. */
export const relationBombs: Record<string, Builder> = {
  chain: (bytes, chance) => {
    const isFull = chance.happens(0.5)
    const length = isFull ? Math.floor(Math.sqrt(bytes / 3)) : count(bytes / 2, 70)
    const below = (i: number) => (isFull ? list(i, (j) => `p${j}, `) : i === 0 ? '' : `p${i - 1}`)
    const profiles = list(length, (i) => {
      const config = chance.pick(['{}', '{deny_url: {urls: {$append: [a]}}}', `{k${i}: 1}`])
      return `---\nprofile: p${i}\nprofiles: [${below(i)}]\nconfig: ${config}\n`
    })
    const users = list(count(bytes / 2, 60), (i) => {
      const names = [...new Set([length - 1 - (i % length), i % length])]
      return `---\ndomain: ${nameDomain(i)}\nprofiles: [p${names.join(', p')}]\nconfig: {}\n`
    })
    return buildBoth(profiles, users)
  },
  lists: (bytes, chance) => {
    const length = chance.pick([30, 300, 1000])
    const config = chance.pick<Write>([
      (i) => `{deny_url: {urls: {$append: [u${i}]}}}`,
      (i) => `{add_response_head: {list: {$append: [{name: X${i}, value: "\${domain}"}]}}}`,
    ])
    const profiles = list(length, (i) => `---\nprofile: p${i}\nconfig: ${config(i)}\n`)
    const users = list(count(bytes, 6 * length + 60), (i) => {
      const names = list(length, (j) => `p${(i + j) % length}, `)
      return `---\ndomain: ${nameDomain(i)}\nprofiles: [${names}]\nconfig: {}\n`
    })
    return buildBoth(profiles, users)
  },
  globs: (bytes, chance) => {
    const glob = chance.pick<Write>([
      (i) => `*${i}.example.net`,
      (i) => `d{${i},${i + 1}}.*`,
      (i) => `${'*a'.repeat(30)}${i}`,
      (i) => `+(a|aa|+(a|b))${i}`,
      (i) => `{${list(100, (j) => String(j * i), ',')}}`,
      (i) => `${'?a'.repeat(100)}*${i}`,
      (i) => `*${'[ab]?'.repeat(50)}*${i}`,
      (i) => nameDomain(i * 7),
    ])
    const all = Array.from({ length: chance.pick([3, 100, 3000, 50_000]) }, (_, i) =>
      quote(glob(i)),
    )
    const rules = chance.pick([
      `guards: {protect: ["*",${all.join(',')}]}`,
      `rollout: {first: [${all.join(',')}]}`,
      `drift: {ignore: [${all.map((each) => `{domain: ${each}, item: https, reason: r}`).join()}]}`,
      `manifests: [${all.join(',')}, "domains/**/*.yaml"]`,
      `profiles: [${all.join(',')}]`,
    ])
    const prefix = chance.pick(['', `${'a'.repeat(60)}.`, `${'a'.repeat(60)}.`.repeat(3)])
    const size = prefix.length + 20
    const names = list(count(bytes / 2, size), (i) => `- ${prefix}${nameDomain(i)}\n`)
    return {
      files: {
        'edgewise.yaml': `${home}${rules}\n`,
        'domains/a.yaml': `domains:\n${names}config: {https: {cert_id: 1}}\n`,
      },
      commands: [...checks, ['plan', '--target', glob(1)]],
    }
  },
  sections: (bytes, chance) => {
    const length = count(bytes, 40)
    const section = chance.pick([
      () => `secrets:\n${list(length, (i) => `  s${i}: {env: S${i}}\n`)}`,
      () => `notify:\n${list(length, (i) => `- {kind: slack, url: "https://a.example/${i}"}\n`)}`,
      () => `notify:\n${list(length, () => `- {kind: slack, url: "\${env:A}"}\n`)}`,
      () =>
        `guards:\n  freeze:\n${list(length, () => `  - {from: "Fri 16:00", to: "Mon 08:00"}\n`)}`,
      () => `guards: {freeze: [${list(length, (i) => `{from: a, to: b, timezone: A${i}}, `)}]}\n`,
      () => `rollout: {waves: [${list(length, (i) => `${i + 1}, `)}"100%"]}\n`,
      () => `rollout: {waves: ["100%"], approval: [${list(length, (i) => `${i + 1}, `)}]}\n`,
      () => `grouping: {together: [${list(length, () => '[https, origin], ')}]}\n`,
      () => `grouping: {groups: [${list(length, () => '[https, origin], ')}]}\n`,
      () => `grouping: {groups: [[${list(length, () => 'https, ')}]]}\n`,
      () => `service: {url: emulator, itemKeys: {${list(length, (i) => `a${i}: b, `)}}}\n`,
      () => `defaults: {${list(length, (i) => `a${i}: b, `)}}\n`,
      () => list(length, (i) => `k${i}: 1\n`),
    ])()
    return {
      files: {
        'edgewise.yaml': home + section,
        'domains/a.yaml': writeManifest('  https: {cert_id: 1}\n'),
      },
      commands: checks,
    }
  },
  json: (bytes, chance) => {
    const text = quote(repeat(drawTokens(chance), bytes))
    const wide = (size: number, write: Write) => list(count(bytes, size), write, ',')
    const given = chance.pick([
      () => '['.repeat(bytes),
      () => '{"a":'.repeat(bytes / 5),
      () => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`,
      () => `{"www.example.com":{${wide(16, (i) => `"k${i}":1`)}}}`,
      () => `{"www.example.com":{"https":{${wide(16, (i) => `"k${i}":1`)}}}}`,
      () => `{"www.example.com":{"https":{${wide(6, () => '"k":1')}}}}`,
      () => `{"www.example.com":{"deny_url":{"urls":[${text}]}}}`,
      () => `{"www.example.com":{"visit_timestamp":{"key":${text}}}}`,
      () => `{"www.example.com":{"deny_url":{"urls":[${wide(12, (i) => `"u${i}"`)}]}}}`,
      () => `{"www.example.com":{"deny_url":{"urls":[${wide(3, () => '{}')}]}}}`,
      () => `{${wide(40, (i) => `"${nameDomain(i)}":{"https":{"cert_id":1}}`)}}`,
      () => `{${wide(40, (i) => `"${nameDomain(i)}":{"https":1}`)}}`,
      () => `{${wide(10, (i) => `"d${i}":{}`)}}`,
      () => `{${text}:{"https":{"cert_id":1}}}`,
      () => `${' '.repeat(bytes)}{}`,
      () => `"${'\\ud83d'.repeat(bytes / 6)}"`,
      () => `[${'1e5,'.repeat(bytes / 4)}1]`,
    ])()
    return {
      files: {
        'edgewise.yaml': home,
        'domains/a.yaml': writeManifest('  https: {cert_id: 1}\n'),
        'given.json': given,
      },
      commands: [
        ['import', 'given.json'],
        ['drift', '--observed', 'given.json'],
        ['apply', 'given.json'],
      ],
    }
  },
}

function buildBoth(profiles: string, users: string): ReturnType<Builder> {
  const files = { 'edgewise.yaml': home, 'profiles/a.yaml': profiles, 'domains/a.yaml': users }
  return { files, commands: checks }
}
