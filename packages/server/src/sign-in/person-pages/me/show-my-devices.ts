/* The devices of a person: the one that is used now first, each with what it may be used for. */
import { html, type Markup } from '../../pages/kit/markup.ts'
import { badge, facts, statement, type Statement, type Tone } from '../../pages/kit/parts.ts'
import { distanceOf, timeOf, timeWithDistance } from '../../pages/kit/times.ts'
import { showIssue } from '../../pages/issue/show-issue.ts'
import type { PageContent } from '../../pages/page-surface.ts'
import type { Language } from '../../pages/texts/language.ts'
import { textsOf, type Texts } from '../../pages/texts/texts.ts'
import type { ShownIssue } from '../../shown-issues/list-shown-issues.ts'
import { devicePath, ME_PATHS } from './me-paths.ts'
import { showBrowsers, type ShownBrowser } from './show-browsers.ts'
import { showRequests, type OwnRequests } from './show-requests.ts'
import type { PersonDevice } from './person-device-read.ts'

const TONES: Readonly<Record<PersonDevice['authState'], Tone>> = {
  Good: 'good',
  Notified: 'good',
  'Will Block': 'warn',
  Blocked: 'bad',
}

export interface ShownDevices {
  readonly personName: string
  readonly devices: readonly PersonDevice[]
  readonly currentDeviceId: string | null
  readonly requests: OwnRequests
  readonly browsers: readonly ShownBrowser[]
  /** The code that was given last was not the one of the request. */
  readonly isCodeWrong: boolean
  readonly language: Language
  readonly now: Date
}

export function showMyDevices(shown: ShownDevices): PageContent {
  const { devices, currentDeviceId, language, personName } = shown
  const texts = textsOf(language)
  const { me } = texts
  const isCurrent = ({ id }: PersonDevice) => id === currentDeviceId
  const ordered = devices.toSorted(
    (one, other) => Number(isCurrent(other)) - Number(isCurrent(one)),
  )
  return {
    title: texts.myDevices,
    body: html`<div class="stack-wide">
      <div class="sheet stack-wide">
        ${statement(sumUp(devices, texts))}
        <p class="quiet small">${me.signedInAs(personName)}</p>
      </div>
      ${showRequests(shown.requests, shown.isCodeWrong, texts)}
      <ul class="list sheet">
        ${ordered.map((device) => showEntry(device, isCurrent(device), shown, texts))}
      </ul>
      ${showBrowsers(shown.browsers, texts, language, shown.now)}
      <form method="post" action=${ME_PATHS.signOut}>
        <button class="button-link">${me.signOut}</button>
      </form>
    </div>`,
  }
}

function sumUp(devices: readonly PersonDevice[], { me }: Texts): Statement {
  const count = (state: PersonDevice['authState']) =>
    devices.filter(({ authState }) => authState === state).length
  if (devices.length === 0)
    return {
      tone: 'plain',
      picture: 'laptop',
      sentence: me.none,
      more: html`<p>${me.noneMore}</p>`,
    }
  if (count('Blocked') > 0) return { tone: 'bad', sentence: me.someBlocked(count('Blocked')) }
  if (count('Will Block') > 0)
    return { tone: 'warn', sentence: me.someWillBlock(count('Will Block')) }
  return { tone: 'good', sentence: me.allGood(devices.length) }
}

function showEntry(
  device: PersonDevice,
  isCurrent: boolean,
  { language, now }: ShownDevices,
  texts: Texts,
): Markup {
  const { me } = texts
  const seen =
    device.seenAt === null
      ? me.neverSeen
      : html`${me.seen} ${distanceOf(device.seenAt, now, language)}`
  return html`<li class="stack">
    <div class="row">
      <h2><a href=${devicePath(device.id)}>${device.name}</a></h2>
      ${showState(device, texts)}
    </div>
    <p class="quiet small">
      ${isCurrent && html`<strong>${me.thisOne}</strong> · `}${device.operatingSystem} · ${seen}
    </p>
    ${device.willBlockAt !== null && html`<p>${me.blocksOn} ${timeWithDistance(device.willBlockAt, now, language)}</p>`}
  </li>`
}

function showState({ authState, openIssueCount }: PersonDevice, { me }: Texts): Markup {
  const text = `${me.states[authState]}${openIssueCount === 0 ? '' : ` · ${me.issues(openIssueCount)}`}`
  return badge(TONES[authState], text)
}

export interface ShownPersonDevice {
  readonly device: PersonDevice
  readonly issues: readonly ShownIssue[]
  readonly language: Language
  readonly now: Date
}

/** A device with its issues, and the forms that ask it again or ask for an exemption. */
export function showPersonDevice({
  device,
  issues,
  language,
  now,
}: ShownPersonDevice): PageContent {
  const texts = textsOf(language)
  const { me } = texts
  const path = devicePath(device.id)
  return {
    title: device.name,
    liveFrom: `${path}/events`,
    body: html`<div class="stack-wide">
      <div class="sheet stack-wide">
        ${statement(sayState(device, texts, language, now))}
        ${facts([
          [me.system, device.operatingSystem],
          [me.model, device.hardwareModel],
          ...(device.serial === null ? [] : [[me.serial, device.serial] as const]),
          [me.registered, timeOf(device.registeredAt, language, 'day')],
          [
            me.lastSeen,
            device.seenAt === null ? me.neverSeen : timeWithDistance(device.seenAt, now, language),
          ],
        ])}
      </div>
      <div>
        ${issues.map((issue) =>
          showIssue({
            issue,
            platform: device.platform,
            language,
            now,
            actions: {
              recheck: `${path}/recheck`,
              exemption: `${path}/exemption`,
              withdraw: `${path}/withdraw`,
              snooze: `${path}/snooze`,
            },
          }),
        )}
      </div>
      <p><a href=${ME_PATHS.devices}>${texts.myDevices}</a></p>
    </div>`,
  }
}

function sayState(device: PersonDevice, { me }: Texts, language: Language, now: Date): Statement {
  const { name, authState, willBlockAt } = device
  const tone = TONES[authState]
  if (authState === 'Will Block' && willBlockAt !== null) {
    return {
      tone,
      sentence: me.willBlock(name),
      more: html`<p>
        ${me.blocksOn} <strong>${timeWithDistance(willBlockAt, now, language)}</strong>
      </p>`,
    }
  }
  return { tone, sentence: authState === 'Blocked' ? me.isBlocked(name) : me.isGood(name) }
}

/** The page for whoever is not signed in: a sign-in of one's own, by the device that one sits at. */
export function showSignInToPages(path: string, language: Language): PageContent {
  const texts = textsOf(language)
  const { me, attempt } = texts
  return {
    title: texts.myDevices,
    body: html`<div class="sheet stack-wide">
      ${statement({ tone: 'plain', picture: 'person', sentence: me.signInFirst, more: html`<p>${me.signInMore}</p>` })}
      <form method="post" action=${ME_PATHS.signIn} class="stack">
        <input type="hidden" name="path" value=${path} />
        <label
          >${attempt.email}<input
            type="email"
            name="email"
            autocomplete="username"
            required
            maxlength="320"
        /></label>
        <div class="actions"><button class="button button-main">${attempt.goOn}</button></div>
      </form>
    </div>`,
  }
}
