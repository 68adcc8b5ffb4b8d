/*
 * The page that a test leaves behind, for the next test of its file that opens one: going on in it costs half of what a
 * new one does, whose process compiles every script again. Owns which page may be used again, and what of it is taken
 * back.
 */
import type { EventEmitter } from 'node:events'
import type { Page } from 'playwright-core'

/** What tests listen for. */
const HEARD = ['dialog', 'download', 'popup', 'request', 'requestfailed', 'response'] as const

const WIDE = { width: 1440, height: 900 } as const

export class UsedPage {
  readonly #consoleUrl: string
  #opened: Page[] = []
  #left: Page | undefined

  constructor(consoleUrl: string) {
    this.#consoleUrl = consoleUrl
  }

  /** The page that the test before has left, as a new one but for its process and what browsers cache. */
  async take(): Promise<Page | undefined> {
    const page = this.#left
    this.#left = undefined
    if (page === undefined) return undefined
    try {
      await page.evaluate('sessionStorage.clear(); localStorage.clear()')
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      await page.setViewportSize(WIDE)
      await page.mouse.move(0, 0)
      await page.context().clearCookies()
    } catch {
      // An answer that was on its way has sent it elsewhere.
      await page.context().close()
      return undefined
    }
    return page
  }

  /** A test uses this page, which it has opened or taken. */
  add(page: Page): void {
    this.#opened.push(page)
  }

  /** Keeps one of the pages that the test has used, and forgets the others. */
  async leave(): Promise<Page | undefined> {
    this.#left = this.#opened.findLast((page) => this.#isReusable(page))
    this.#opened = []
    try {
      if (this.#left !== undefined) await putToRest(this.#left)
    } catch {
      // It goes elsewhere right now.
      this.#left = undefined
    }
    return this.#left
  }

  /** The next test opens a new one. */
  forget(): void {
    this.#opened = []
    this.#left = undefined
  }

  /** What was opened before a test stays as it is; answers the page that the test may take. */
  keepOpen(): Page | undefined {
    this.#opened = []
    return this.#left
  }

  #isReusable(page: Page): boolean {
    const emitter = page as unknown as EventEmitter
    return (
      !page.isClosed() &&
      page.context().pages().length === 1 &&
      page.url().startsWith(this.#consoleUrl) &&
      HEARD.every((event) => emitter.listenerCount(event) === 0)
    )
  }
}

/**
 * From here on nothing answers for the service, and the page asks it for nothing: it never hears that its admin has
 * gone.
 */
async function putToRest(page: Page): Promise<void> {
  await page.evaluate('globalThis.fetch = () => new Promise(() => undefined)')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().unrouteAll({ behavior: 'ignoreErrors' })
}
