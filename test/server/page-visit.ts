import { apiToken, type HttpStage } from './http-stage.ts'

/** Sends the login form, and returns the answer without following it. */
export function logIn(
  { url }: HttpStage,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams({ token: apiToken, to: '/', ...fields })
  return fetch(`${url}/login`, { method: 'POST', body, headers, redirect: 'manual' })
}

/** Returns the name and the value of the cookie that an answer sets. */
export function readCookie(answer: Response): string {
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

/** A browser with a session: it sends its cookie, and forms as the last page had them. */
export async function visit(http: HttpStage) {
  let cookie = readCookie(await logIn(http))
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(http.url + path, { headers: { cookie, ...headers }, redirect: 'manual' })
  return {
    get,
    getCookie: () => cookie,
    addCookie: (more: string) => void (cookie += `; ${more}`),
    post: (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(http.url + path, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { cookie, ...headers },
        redirect: 'manual',
      }),
    /** Reads the fields of the first form of a page that posts to a path. */
    readForm: async (page: string, path: string): Promise<Record<string, string>> => {
      const html = await (await get(page)).text()
      const form = html.split(`<form method="post" action="${path}">`)[1]?.split('</form>')[0] ?? ''
      const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)]
      return Object.fromEntries(fields.map(([, name, value]) => [name, value]))
    },
  }
}
