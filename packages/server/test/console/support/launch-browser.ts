/* The browser that looks at pages: Chromium without a window. It reaches the machine itself alone. */
import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type LaunchOptions } from 'playwright-core'
import { hasPackagedBrowser, unpackBrowser } from './packaged-browser.ts'

/** Chromium without the parts that draw a window, which takes two fifths of the CPU time away. */
const INSTALLED_SHELL = '/usr/bin/chromium-headless-shell'
const INSTALLED_BROWSERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** How long a page may take at most to show what a test waits for: far above what it needs on a busy machine. */
const WAIT_MAX_MS = 120_000

/** Most pages of a test are closed before a script has paid for being compiled further, by other threads at that. */
const COMPILED_ONCE = '--js-flags=--single-threaded --no-turbofan --no-maglev'

/** Starts a browser that reaches `localhost` and these hosts alone, for tests. Close it. */
export function launchBrowser(...hosts: readonly string[]): Promise<Browser> {
  return launch(hosts, [COMPILED_ONCE])
}

/** Starts a browser that reaches `localhost` alone and runs scripts as quickly as those of people do. Close it. */
export function launchMeasuredBrowser(): Promise<Browser> {
  return launch([], [])
}

async function launch(hosts: readonly string[], more: readonly string[]): Promise<Browser> {
  const { args = [], ...options } = await toLaunchOptions(hosts)
  const browser = await chromium.launch({ ...options, args: [...args, ...more] })
  browser.on('context', makePatient)
  return browser
}

/** Starts a browser that keeps its profile in a folder. Close it. */
export async function launchProfile(folder: string): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(folder, await toLaunchOptions([]))
  makePatient(context)
  return context
}

function makePatient(context: BrowserContext): void {
  context.setDefaultTimeout(WAIT_MAX_MS)
}

async function toLaunchOptions(hosts: readonly string[]): Promise<LaunchOptions> {
  const reached = ['localhost', ...hosts].map((host) => `EXCLUDE ${host}`)
  const args = [
    '--no-sandbox',
    '--disable-dev-shm-usage',
    '--disable-gpu',
    // What draws without a graphics card needs no process of its own.
    '--in-process-gpu',
    `--host-resolver-rules=${['MAP * ~NOTFOUND', ...reached].join(' , ')}`,
  ]
  return { ...(await findBrowser()), args }
}

/** `HELIOGRAPH_TEST_BROWSER` names another one than the first that is found. */
async function findBrowser(): Promise<Pick<LaunchOptions, 'executablePath' | 'env'>> {
  const named = process.env['HELIOGRAPH_TEST_BROWSER']
  if (named !== undefined) return { executablePath: named }
  if (existsSync(INSTALLED_SHELL)) return { executablePath: INSTALLED_SHELL }
  if (hasPackagedBrowser()) return unpackBrowser()
  const installed = INSTALLED_BROWSERS.find((path) => existsSync(path))
  if (installed !== undefined) return { executablePath: installed }
  throw new Error('No browser: install Chromium, or name one by HELIOGRAPH_TEST_BROWSER')
}
