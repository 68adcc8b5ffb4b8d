/*
 * The page of the demo's application: who the visitor is, the switches of the simulated Mac, and what the application
 * was told. Owns no sign-in and no device.
 */
import { html, renderDocument, type Markup } from '../../../sign-in/pages/kit/markup.ts'
import type { DemoPerson } from '../prepare-organisation.ts'
import type { DeviceSwitch } from '../visitor-device.ts'

/** What the application knows of the sign-in of a browser. */
export type SignInResult =
  | { readonly kind: 'none' }
  | { readonly kind: 'signed_in'; readonly claims: Readonly<Record<string, unknown>> }
  | { readonly kind: 'refused'; readonly reason: string }

export interface ShownTrial {
  readonly person: DemoPerson
  readonly deviceName: string
  readonly switches: readonly DeviceSwitch[]
  readonly result: SignInResult
  /** Whether the simulated device can show the connections of the browser of its visitor. */
  readonly isProvable: boolean
}

/** The addresses of the page. */
export const TRIAL_PATHS = {
  page: '/',
  signIn: '/sign-in',
  signOut: '/sign-out',
  callback: '/callback',
  device: '/device',
  style: '/trial.css',
} as const

/** The HTML of the page. */
export function renderTrial(trial: ShownTrial): string {
  return renderDocument(
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Ledger · the application of the demo</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href=${TRIAL_PATHS.style} />
      </head>
      <body>
        <header>
          <strong>Ledger</strong>
          <span>an application that trusts Heliograph</span>
        </header>
        <main>${showResult(trial)}${showDevice(trial)}</main>
      </body>
    </html>`,
  )
}

function showResult(trial: ShownTrial): Markup {
  const { person, result } = trial
  switch (result.kind) {
    case 'none':
      return showInvitation(trial)
    case 'signed_in':
      return html`<section class="result good">
        <h1>Welcome, ${person.name}</h1>
        <p>The sign-in went through. This is what Ledger was told, signed by Heliograph:</p>
        ${showClaims(result.claims)}
        <form method="post" action=${TRIAL_PATHS.signOut}><button>Sign out</button></form>
      </section>`
    case 'refused':
      return html`<section class="result bad">
        <h1>Not signed in</h1>
        <p>Heliograph answered: ${result.reason}</p>
        <p><a class="main" href=${TRIAL_PATHS.signIn}>Try again</a></p>
      </section>`
  }
}

function showInvitation({ person, deviceName, switches, isProvable }: ShownTrial): Markup {
  const wrong = switches.filter(({ isGood }) => !isGood)
  return html`<section>
    <h1>Sign in as ${person.name}</h1>
    <p>
      ${person.name} works on the Mac <b>${deviceName}</b>. For this demo your browser counts as
      ${' '}a program of that Mac, and the switches ${' '}<a href="#device">below</a> are its
      ${' '}settings.
    </p>
    <ol>
      <li>
        Sign in. Heliograph finds out by itself which device this browser runs on.
        ${wrong.length > 0 && html` It will stop you: ${listTitles(wrong)}.`}
      </li>
      ${wrong.length > 0 && html`<li>Come back to this tab and put the setting right.</li>`}
      <li>The sign-in goes on, and Ledger is told about the person and the device.</li>
    </ol>
    ${
      !isProvable &&
      html`<p class="note">
        On this operating system the simulated Mac cannot see your browser. Ask for the approval of
        an admin when the sign-in offers it, and approve in the console.
      </p>`
    }
    <p>
      <a class="main" href=${TRIAL_PATHS.signIn} target="_blank" rel="noopener"
        >Sign in to Ledger</a
      >
    </p>
  </section>`
}

function listTitles(switches: readonly DeviceSwitch[]): string {
  return switches.map(({ label }) => `${label} is off`).join(', ')
}

function showDevice({ deviceName, switches }: ShownTrial): Markup {
  return html`<section id="device">
    <h2>The settings of ${deviceName}</h2>
    <p class="quiet">
      A simulated Mac. Turning a switch changes what its osquery answers, nothing else.
    </p>
    <ul class="switches">
      ${switches.map(
        ({ name, label, isGood }) =>
          html`<li>
            <div>
              <b>${label}</b> <span class=${isGood ? 'on' : 'off'}>${isGood ? 'on' : 'off'}</span>
            </div>
            <form method="post" action=${TRIAL_PATHS.device}>
              <input type="hidden" name="switch" value=${name} />
              <input type="hidden" name="to" value=${isGood ? 'bad' : 'good'} />
              <button aria-label=${`Turn ${label} ${isGood ? 'off' : 'on'}`}>
                ${isGood ? 'Turn off' : 'Turn on'}
              </button>
            </form>
          </li>`,
      )}
    </ul>
  </section>`
}

/** What the claims mean; those that are not named here are how every ID token is checked. */
const MEANINGS: Readonly<Record<string, string>> = {
  name: 'who signed in',
  email: 'the address of the person',
  device_id: 'the device, by its id in the API',
  device_auth_state: 'the status of the device at that moment',
  device_will_block_at: 'when it would be blocked',
  acr: 'how surely the device is known',
  amr: 'how it was proven',
  auth_time: 'when, in seconds since 1970',
  sub: 'the person, by an id that never changes',
  iss: 'who signed this',
  aud: 'for whom',
}

function showClaims(claims: Readonly<Record<string, unknown>>): Markup {
  const told = Object.keys(MEANINGS).filter((name) => claims[name] !== undefined)
  return html`<table>
    <thead>
      <tr>
        <th>Claim</th>
        <th>Value</th>
        <th>What it says</th>
      </tr>
    </thead>
    <tbody>
      ${told.map(
        (name) =>
          html`<tr>
            <td><code>${name}</code></td>
            <td data-claim=${name}>${showValue(claims[name])}</td>
            <td class="quiet">${MEANINGS[name]}</td>
          </tr>`,
      )}
    </tbody>
  </table>`
}

function showValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value).replaceAll('"', '')
}
