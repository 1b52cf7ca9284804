/** A browser without a screen: it keeps cookies by host, and follows redirects step by step. */
export class Browser {
  readonly #jars = new Map<string, Map<string, string>>()

  /** Lists the cookies of a host as a header. */
  cookies(host: string): string {
    return [...(this.#jars.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** Removes or replaces the cookies of a host. */
  set(host: string, cookies: string): void {
    const pairs = cookies.split('; ').map((pair) => pair.split(/=(.*)/s, 2) as [string, string])
    this.#jars.set(host, new Map(cookies === '' ? [] : pairs))
  }

  /** Sends one request; redirects are not followed. */
  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url)
    const headers = { ...(init.headers as Record<string, string>), cookie: this.cookies(host) }
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' })
    const jar = this.#jars.get(host) ?? new Map<string, string>()
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s)
      if (value === '' || /max-age=0\b|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    this.#jars.set(host, jar)
    return answer
  }

  /** Follows redirects until an address that begins so; returns it without a request. */
  async follow(url: string, until: string): Promise<string> {
    let next = url
    for (let i = 0; i < 12; i++) {
      if (next.startsWith(until)) return next
      const answer = await this.send(next)
      const to = answer.headers.get('location')
      if (to === null) throw new Error(`${next}: ${answer.status} ${await answer.text()}`)
      next = new URL(to, next).href
    }
    throw new Error(`too many redirects, the last one to ${next}`)
  }
}
