// Takes the pictures of the console and of a sign-in in README and docs from a running demo, by day and by night:
//   node scripts/console-pictures.mjs
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, URL } from 'node:url'
import { launchBrowser } from '../packages/server/test/console/support/launch-browser.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'docs', 'images')
/** The fleet has moved a little by then. */
const WARM_UP_MS = 45_000

/** The pictures: each with its page, by day or by night. */
const PICTURES = [
  { name: 'console-now', path: '/', colorScheme: 'light' },
  { name: 'console-devices-night', path: '/devices', colorScheme: 'dark' },
  { name: 'console-checks', path: '/checks', colorScheme: 'light' },
  { name: 'console-deliveries-night', path: '/signals/deliveries', colorScheme: 'dark' },
]

const demo = spawn(
  process.execPath,
  [
    '--conditions=source',
    '--disable-warning=ExperimentalWarning',
    'packages/server/src/main.ts',
    'demo',
    '--json',
  ],
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
)
try {
  const { console_url: consoleUrl, sign_in_url: signInUrl } = await readAddresses()
  demo.stdout.resume()
  mkdirSync(folder, { recursive: true })
  const browser = await launchBrowser(new URL(signInUrl).hostname, new URL(consoleUrl).hostname)
  await takeConsole(browser, consoleUrl)
  await takeSignIn(browser, signInUrl)
  await browser.close()
} finally {
  demo.kill('SIGTERM')
}

/** What the demo prints when it has begun: the one-time link to its console among it. */
async function readAddresses() {
  for await (const line of createInterface({ input: demo.stdout })) {
    const addresses = JSON.parse(line)
    if (addresses.console_url !== undefined) return addresses
  }
  throw new Error('The demo ended without a link to its console.')
}

/** Somebody of the fleet signs in, whose Mac has FileVault off. */
async function takeSignIn(browser, signInUrl) {
  const context = await browser.newContext({
    viewport: { width: 1000, height: 900 },
    reducedMotion: 'reduce',
    locale: 'en-GB',
  })
  const page = await context.newPage()
  await page.goto(signInUrl)
  const [signIn] = await Promise.all([
    context.waitForEvent('page'),
    page.getByRole('link', { name: 'Sign in to Ledger' }).click(),
  ])
  await signIn.getByRole('heading', { name: 'You can sign in as soon as' }).waitFor()
  await signIn.screenshot({ path: join(folder, 'sign-in-blocked.png') })
  await context.close()
}

async function takeConsole(browser, consoleUrl) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.goto(consoleUrl)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Now' }).waitFor()
  await page.waitForTimeout(WARM_UP_MS)
  for (const { name, path, colorScheme } of PICTURES) {
    await page.emulateMedia({ colorScheme })
    await page.goto(`${new URL(consoleUrl).origin}/console${path}`)
    await page.waitForTimeout(4_000)
    await page.screenshot({ path: join(folder, `${name}.png`) })
  }
  await context.close()
}
