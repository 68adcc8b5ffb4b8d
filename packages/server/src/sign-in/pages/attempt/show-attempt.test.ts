import { describe, expect, it } from 'vitest'
import type { AttemptIssue, AttemptView } from '../../attempts/attempt-view.ts'
import { REFUSALS } from '../../attempts/refusals.ts'
import { createPageAssets } from '../kit/page-assets.ts'
import { renderPage } from '../kit/page.ts'
import type { Language } from '../texts/language.ts'
import { showAttempt } from './show-attempt.ts'

const NOW = new Date('2026-11-23T10:00:00Z')
const HOUR = 3_600_000
const later = (hours: number) => new Date(NOW.getTime() + hours * HOUR)
const assets = createPageAssets()
const BRAND = { name: 'Acme', logoVersion: null, colour: null }
const ID = '5d3c2f1e-1111-4222-8333-444455556666'

const ISSUE: AttemptIssue = {
  id: '7',
  checkId: '3',
  title: 'The disk is not encrypted',
  rationale: 'Whoever finds **it** can read it.',
  checkSlug: 'custom-thing',
  rows: [{ filevault_status: 'off' }],
  steps: '1. Open settings.\n2. Run `fdesetup enable -user ada`.',
  blocksAt: later(-1),
  isBlocking: true,
  recheck: 'idle',
  lastCheckedAt: later(-2),
  snoozeDays: [],
  snoozedUntil: null,
  isExemptionAllowed: true,
  exemption: null,
  exemptedUntil: null,
  exemptionDenial: null,
  withdrawableRequestId: null,
}

const VIEW: AttemptView = {
  id: ID,
  stage: 'blocked',
  applicationName: 'Payroll',
  person: { name: 'Ada', email: 'ada@example.com' },
  device: {
    id: '4',
    name: 'ada-mac',
    platform: 'darwin',
    howKnown: 'live',
    seenAt: later(0),
    authState: 'Blocked',
    willBlockAt: null,
    isOwn: true,
    ownUntil: null,
  },
  assurance: 'live',
  issues: [ISSUE],
  choices: {
    mayContinue: false,
    mayRecheck: true,
    mayRequestExemption: true,
    maySnooze: true,
    maySayNotMyDevice: true,
    mayCancel: true,
  },
  expiresAt: later(1),
  revision: 3,
  language: 'en',
  brand: { name: 'Acme', logo: null, colour: null },
}

function show(changes: Partial<AttemptView> = {}, language: Language = 'en', isStaying = false) {
  const content = showAttempt({ view: { ...VIEW, ...changes }, language, now: NOW, isStaying })
  return renderPage({ ...content, language, brand: BRAND }, assets)
}

const h1 = (page: string) => /<h1>(.*?)<\/h1>/.exec(page)?.[1]
const actions = (page: string) => [...page.matchAll(/ action="([^"]+)"/g)].map(([, to]) => to)

describe('a sign-in says in one sentence what becomes of it', () => {
  it.each([
    [
      'person',
      'Your sign-in to Payroll has not come back from your provider yet.',
      'Ihre Anmeldung bei Payroll ist noch nicht von Ihrem Anbieter zurück.',
    ],
    ['device', 'Recognising your device …', 'Ihr Gerät wird erkannt …'],
    ['registration', 'Is ada-mac yours?', 'Gehört ada-mac Ihnen?'],
    ['fallback', 'Your device could not be recognised.', 'Ihr Gerät ließ sich nicht erkennen.'],
    ['posture', 'Checking how ada-mac is doing …', 'ada-mac wird geprüft …'],
    [
      'blocked',
      'You can sign in as soon as one thing is fixed.',
      'Sie können sich anmelden, sobald eine Sache behoben ist.',
    ],
    ['warned', 'You can continue.', 'Sie können weitermachen.'],
    [
      'done',
      'Everything is in order. You go on to Payroll.',
      'Alles ist in Ordnung. Es geht weiter zu Payroll.',
    ],
    ['refused', 'You were not signed in.', 'Sie wurden nicht angemeldet.'],
    [
      'abandoned',
      'This sign-in took too long and has ended.',
      'Diese Anmeldung hat zu lange gedauert und ist beendet.',
    ],
  ] as const)('%s', (stage, english, german) => {
    expect(h1(show({ stage }))).toBe(english)
    expect(h1(show({ stage }, 'de'))).toBe(german)
  })
})

describe('a blocked sign-in', () => {
  it('shows what was found, what to do, and the settings to open', () => {
    const page = show({ issues: [{ ...ISSUE, checkSlug: 'disk-encryption' }] })
    expect(page).toContain('<dt>Filevault status</dt><dd>off</dd>')
    expect(page).toContain('href="x-apple.systempreferences:com.apple.settings.PrivacySecurity')
    expect(page).toContain('data-copy="fdesetup enable -user ada"')
    expect(page).toContain('about 5 min')
  })

  it('can be fixed, exempted, given up and ended by forms', () => {
    expect(actions(show())).toEqual([
      `/sign-in/attempts/${ID}/not-my-device`,
      `/sign-in/attempts/${ID}/recheck`,
      `/sign-in/attempts/${ID}/exemption`,
      `/sign-in/attempts/${ID}/cancel`,
    ])
  })

  it('offers only what the policy allows', () => {
    const none = {
      mayContinue: false,
      mayRecheck: false,
      mayRequestExemption: false,
      maySnooze: false,
    }
    const choices = { ...none, maySayNotMyDevice: false, mayCancel: false }
    expect(actions(show({ choices }))).toEqual([])
  })

  it('says that the device is asked, and what it answered', () => {
    const withRecheck = (recheck: AttemptIssue['recheck']) =>
      show({ issues: [{ ...ISSUE, recheck }] })
    expect(withRecheck('asking')).toContain('Your device is being asked.')
    expect(withRecheck('asking')).not.toContain('I have fixed it')
    expect(withRecheck('failing')).toContain('Your device has answered: it is still so.')
    expect(withRecheck('passing')).toContain('Your device has answered: this is in order now.')
  })
})

describe('a warned sign-in', () => {
  const page = show({
    stage: 'warned',
    issues: [{ ...ISSUE, isBlocking: false, blocksAt: later(80) }],
    choices: { ...VIEW.choices, mayContinue: true },
  })

  it('may go on, and says until when that holds', () => {
    expect(actions(page)).toContain(`/sign-in/attempts/${ID}/continue`)
    expect(page).toContain('Thursday 26 November at 18:00 UTC')
    expect(page).toContain('in 3 days')
  })
})

describe('a sign-in that ended well', () => {
  it('goes on by itself, with scripts and without', () => {
    const page = show({ stage: 'done' })
    const to = `/sign-in/attempts/${ID}/return`
    expect(page).toContain(
      `<noscript><meta http-equiv="refresh" content="2;url=${to}"/></noscript>`,
    )
    expect(page).toContain(`data-go-on="${to}" data-seconds="2"`)
    expect(page).not.toContain('data-live')
  })

  it('stays where its reader asks for it', () => {
    const page = show({ stage: 'done' }, 'en', true)
    expect(page).not.toMatch(/http-equiv="refresh"|data-go-on/)
    expect(page).toContain('>Go to Payroll</a>')
  })
})

it.each(Object.entries(REFUSALS))(
  'the refusal %s has words in both languages',
  (code, { remedy }) => {
    const refusal = { code: code as keyof typeof REFUSALS, message: '', note: null, remedy }
    for (const language of ['en', 'de'] as const) {
      const page = show({ stage: 'refused', refusal }, language)
      expect(page).toMatch(/<div class="lead stack"><p>[A-ZÄÖÜ][^<]{10,}<\/p>/)
      // What an admin does about it is nothing for the person.
      expect(page).not.toContain(remedy)
    }
  },
)

it('no text of a device, a check or an application becomes part of the page', () => {
  const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`
  const fill = <Value>(value: Value): Value => {
    if (typeof value === 'string') return hostile as Value
    if (Array.isArray(value)) return value.map(fill) as Value
    if (typeof value !== 'object' || value === null || value instanceof Date) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, FIXED.has(name) ? each : fill(each)]),
    ) as Value
  }
  const FIXED = new Set([
    'stage',
    'howKnown',
    'platform',
    'authState',
    'assurance',
    'recheck',
    'exemption',
  ])
  for (const stage of [
    'person',
    'device',
    'registration',
    'posture',
    'blocked',
    'warned',
    'done',
  ] as const) {
    const page = show({ ...fill(VIEW), stage })
    expect(page.replaceAll(/<script type="module" src="[\w/.-]+"><\/script>/g, '')).not.toContain(
      '<script',
    )
    expect(page).not.toContain('<img')
  }
})
