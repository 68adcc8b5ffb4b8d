import type { Page } from 'playwright-core'

/** Sends a request as the admin of a page does; answers the body. */
export async function sendAs<Body>(
  page: Page,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): Promise<Body> {
  const request = {
    method,
    headers: { 'content-type': 'application/json', 'x-heliograph-console': '1' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
  return page.evaluate<Body>(
    `fetch(${JSON.stringify(path)}, ${JSON.stringify(request)}).then(async (answer) => {
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return text === '' ? null : JSON.parse(text)
    })`,
  )
}
