import type { Markup } from '../kit/markup.ts'

const frame = {
  skip: 'Skip to the page',
  more: 'More',
  copy: 'Copy',
  copied: 'Copied',
  privacyCentre: 'Privacy centre',
  myDevices: 'My devices',
  back: 'Back',
}

const failure = {
  title: 'That did not work',
  notFound: 'There is nothing at this address.',
  notFoundMore: 'It may have ended, or the link was cut short on its way to you.',
  unavailable: 'The service cannot answer at the moment.',
  unavailableMore: 'Nothing is lost. Try again in a moment.',
  refused: 'This cannot be done.',
  foreign: 'This was sent by a page of another site, so nothing was done.',
  tryAgain: 'Try again',
  reference: (id: string) => `If you ask for help, name this number: ${id}`,
}

const privacy = {
  sentence: 'This is everything that your devices are asked.',
  more: 'Checks read settings of a device to see whether it is safe to sign in from. Each of them is listed here, with the very question that it asks.',
  toMyData: 'See what is known of my devices',
  neverTitle: 'What no check reads',
  never: [
    'what is in your documents, messages and mail',
    'which pages you visit, and what you type',
    'your passwords, and the recovery keys of your disk',
    'your camera, your microphone and where you are',
    'what your screen shows',
  ],
  liveQueries:
    'Admins can ask further questions of devices. Each one that touched a device of yours is listed under “my data”, word for word.',
  keptTitle: 'How long it is kept',
  keptAnswers: 'Last answers',
  keptChanges: 'Changes of answers',
  keptIssues: 'Resolved issues',
  keptSignIns: 'Sign-ins',
  asLongAsDevice: 'as long as the device is known here',
  days: (count: number) =>
    count === 0 ? 'without an end' : count === 1 ? '1 day' : `${count} days`,
  checksTitle: (count: number) => (count === 1 ? 'The one check' : `The ${count} checks`),
  allChecks: 'All checks',
  askedTitle: 'What it asks',
  askedMore: 'The question is SQL for osquery, a program that only reads.',
  askedElsewhere: 'Another system answers this check; your device is not asked.',
  askedNothing: 'Your device is not asked.',
  exampleTitle: 'What an answer may look like',
  consequence: {
    block_immediately:
      'A device that fails this check cannot be used to sign in until it is fixed.',
    warn_then_block:
      'A device that fails this check is given some days; after them it cannot be used to sign in until it is fixed.',
    notify_only: 'A device that fails this check can go on being used; its owner is told.',
    report_only: 'Nothing follows from this check; its answers are only reported.',
  },
}

const issues = {
  fixed: 'Fixed',
  exempted: 'Exempted',
  blocks: 'Blocks now',
  blocksPrefix: 'Blocks',
  notice: 'For your notice',
  foundTitle: 'What was found',
  stepsTitle: 'What to do',
  takes: (minutes: number) => `about ${minutes} min`,
  openSettings: 'Open the settings',
  fixedIt: 'I have fixed it',
  asking: 'Your device is being asked. This takes a second or two while it is online.',
  stillFailing: 'Your device has answered: it is still so.',
  passing: 'Your device has answered: this is in order now.',
  lastChecked: 'Last checked',
  askExemption: 'I cannot fix this: ask for an exemption',
  exemptionMore: 'An admin decides, usually within a working day. You will see the decision here.',
  exemptionReason: 'Why can this not be fixed?',
  sendRequest: 'Send the request',
  exemptionOpen: 'You have asked for an exemption. An admin has not decided yet.',
  exemptionDenied: 'Your last request for an exemption was denied.',
}

const attempt = {
  personTitle: 'Who are you?',
  whoHere: 'Who are you?',
  whoSignsIn: (application: string) => `Who signs in to ${application}?`,
  email: 'Your email address at work',
  goOn: 'Go on',
  proofTitle: 'Recognising your device',
  proof: 'Recognising your device …',
  proofMore: (name: string) =>
    `${name === '' ? 'Your' : `${name}, your`} browser opens three connections, and your devices are asked which of them holds these. It takes a few seconds.`,
  proofWithoutScript: 'Your browser runs no scripts, so it cannot open these connections.',
  otherWay: 'Go on another way',
  postureTitle: 'Checking your device',
  posture: (device: string) => `Checking how ${device === '' ? 'your device' : device} is doing …`,
  blockedTitle: 'Blocked for now',
  blocked: (count: number) =>
    count <= 1
      ? 'You can sign in as soon as one thing is fixed.'
      : `You can sign in as soon as ${count} things are fixed.`,
  blockedMore: 'Fix what blocks below. This page notices it and goes on by itself.',
  warnedTitle: 'You can continue',
  warned: 'You can continue.',
  warnedMore: 'Your device has something that you should know of.',
  fixBefore: 'Fix what is below before',
  orBlocked: (device: string) => `, or ${device} will be blocked.`,
  thisDevice: 'this device',
  continueNow: 'Continue',
  otherWays: 'Other ways',
  otherDeviceTitle: 'Use another device of yours',
  otherDevice: 'Begin the sign-in again on a device that is in order.',
  contactTitle: 'Ask for help',
  contact: (id: string) => `Name this number to your IT team: ${id}`,
  doneTitle: 'Signed in',
  done: (name: string) => `Everything is in order. You go on to ${name}.`,
  yourPages: 'your devices',
  goesOn: (seconds: number) => `This goes on by itself in ${seconds} seconds.`,
  goTo: (name: string) => `Go to ${name}`,
  stayHere: 'Stay here',
  refusedTitle: 'Not signed in',
  refused: 'You were not signed in.',
  refusedDevice: (device: string) => `The device was ${device}.`,
  beginAgain: 'To try again, begin where you came from.',
  backToApplication: 'Back to where I came from',
  forAdmins: (code: string, id: string) => `For admins: ${code}, sign-in ${id}`,
  abandonedTitle: 'Ended',
  abandoned: 'This sign-in took too long and has ended.',
  cancel: 'Cancel this sign-in',
  seen: 'seen',
  howKnown: {
    live: 'This browser runs on it: it holds the connections of this page',
    hardware: 'Known by a key in its hardware',
    approved: 'Known by an approval',
    key: 'Known by the key of this browser',
    none: 'Not recognised',
  },
  notMyDevice: 'That is not my device',
  refusals: {
    person_unknown: 'Nobody with this address is known here.',
    person_ended: 'Your account has been switched off.',
    person_missing: 'The application does not say who signs in. Tell your IT team.',
    upstream_unreachable: 'Your identity provider cannot be reached at the moment.',
    upstream_refused: 'Your identity provider did not let you in, or you have cancelled there.',
    upstream_person_mismatch:
      'At your identity provider you are somebody else than the application says. Sign out there and begin again.',
    device_unknown:
      'It could not be shown that you sit at a device that this organisation knows. Use a device from work.',
    device_unreachable: 'Your device does not answer. Check that it is online, and begin again.',
    proof_unavailable: 'The connection that shows which device you sit at could not be opened.',
    relayed:
      'Somebody else has opened connections that belong to your sign-in. It was stopped to protect you. If you came here by a link in a message, report it.',
    device_of_another_person: 'This device is registered to somebody else.',
    other_os_user: 'You are signed in to this device as another user than its owner.',
    registration_refused: 'New devices cannot be registered by signing in. Ask your IT team.',
    registration_denied: 'The registration of this device was denied.',
    assurance_too_low: 'This application asks for a stronger proof of your device.',
    fallback_denied: 'Your request was denied.',
    device_blocked: 'Your device is blocked until its issues are resolved.',
    not_my_device: 'You said that this is not your device, so the sign-in was stopped.',
    cancelled: 'You have cancelled the sign-in.',
    application_disabled: 'This application is switched off here.',
  },
}

const ladder = {
  registrationTitle: 'A new device',
  register: (device: string) => `Is ${device} yours?`,
  registerMore:
    'It is here for the first time. Registered to you, it can be used to sign in, and its checks are shown to you.',
  message: 'A message to whoever decides',
  messageHint: 'Only if somebody has to.',
  registerNow: 'Yes, register it to me',
  fallbackTitle: 'Another way',
  fallback: 'Your device could not be recognised.',
  fallbackMore: 'There are other ways to show that you are you.',
  waiting: 'Waiting for a confirmation …',
  waitingMore: 'Leave this page open: it goes on by itself.',
  openOther: 'Open “My devices” on a device that is registered to you, and confirm there.',
  adminDecides: 'An admin has been asked to approve.',
  compare: 'Type this number there:',
  ways: {
    registered_device: {
      title: 'Confirm from another device of yours',
      more: 'On a device that is registered to you, and in order.',
      action: 'Use another device',
    },
    certificate: {
      title: 'Use the certificate of this device',
      more: 'Your browser asks which certificate to show.',
      action: 'Use a certificate',
    },
    admin_approval: {
      title: 'Ask an admin',
      more: 'Somebody of your IT team looks at it and decides.',
      action: 'Ask for approval',
    },
    browser_key: {
      title: 'Use the key of this browser',
      more: 'It was bound to your device when you last signed in here. Not every application takes it.',
      action: 'Use this browser',
    },
  },
}

const fix = {
  doneTitle: 'Fixed',
  done: (device: string) => `${device} is in order as far as this goes.`,
  doneMore: 'There is nothing left to do here.',
  blocked: (device: string) => `${device} cannot be used to sign in until this is fixed.`,
  blockedMore: 'Follow the steps, then ask your device again.',
  notice: (device: string) => `There is something to know about ${device}.`,
  warn: (device: string) => `There is something to fix on ${device}.`,
  before: 'Fix it before',
  orElse: ', or the device cannot be used to sign in until it is fixed.',
  seen: (device: string) => `${device} was last seen`,
  never: 'never.',
  expires: 'This link ends on',
}

const me = {
  signInFirst: 'Which devices are yours?',
  signInMore: 'Open this page on one of your devices: it is recognised, and you need no password.',
  signedInAs: (name: string) => `Signed in as ${name}`,
  signOut: 'Sign out of these pages',
  none: 'No device is registered to you.',
  noneMore: 'A device is registered when you first sign in with it.',
  allGood: (count: number): string =>
    count === 1 ? 'Your device is in order.' : 'All your devices are in order.',
  someBlocked: (count: number) =>
    count === 1
      ? 'One device cannot be used to sign in.'
      : `${count} devices cannot be used to sign in.`,
  someWillBlock: (count: number) =>
    count === 1 ? 'One device needs you soon.' : `${count} devices need you soon.`,
  thisOne: 'You are on this one',
  seen: 'seen',
  neverSeen: 'never seen',
  blocksOn: 'Blocked from',
  issues: (count: number) => (count === 1 ? '1 issue' : `${count} issues`),
  states: { Good: 'In order', Notified: 'In order', 'Will Block': 'Fix soon', Blocked: 'Blocked' },
  isGood: (device: string) => `${device} is in order.`,
  isBlocked: (device: string) => `${device} cannot be used to sign in until it is fixed.`,
  willBlock: (device: string) => `${device} needs you soon.`,
  system: 'System',
  model: 'Model',
  serial: 'Serial number',
  registered: 'Yours since',
  lastSeen: 'Last seen',
}

const myData = {
  title: 'My data',
  sentence: 'This is everything that is known of your devices.',
  more: 'The last answers that they gave, who can see them, and what else was asked.',
  download: 'Download all of it',
  whoTitle: 'Who can see it',
  kinds: {
    admin: 'Admins',
    api_key: 'Programs with a key',
    stream: 'Systems that hear when the status of a device changes',
    webhook: 'Systems that are told of events',
  },
  responsible: (admin: string) => `responsible: ${admin}`,
  access: (access: string): string =>
    access === 'full' ? 'sees and changes everything' : 'sees a part',
  liveTitle: 'What admins asked beside the checks',
  noLive: 'Nothing.',
  answersTitle: (device: string) => `Last answers of ${device}`,
  answer: (count: number) => (count === 1 ? 'The answer' : `The answer: ${count} rows`),
  statuses: {
    passing: 'in order',
    failing: 'not in order',
    errored: 'could not be asked',
    unknown: 'unknown',
    inapplicable: 'does not apply',
    stale: 'out of date',
    pending: 'not answered yet',
    out_of_scope: 'not asked',
  },
}

const requests = {
  title: 'Waiting for you',
  registration: (device: string) => `Register ${device} to you?`,
  signIn: (device: string, application: string | null) =>
    `Sign in${application === null ? '' : ` to ${application}`} from ${device}?`,
  from: (address: string | null) =>
    `${address === null ? '' : `Asked from the address ${address}. `}Confirm only what you are doing yourself, now.`,
  code: 'The number that the other page shows',
  yes: 'Yes, that is me',
  no: 'No, stop it',
  wrongCode: 'That is not the number that the other page shows.',
}

/** Everything that the pages say in English; the other catalogues have the same members. */
export const en = { ...frame, failure, privacy, issues, attempt, ladder, fix, me, myData, requests }

export type Texts = typeof en

/** A text that times or other pieces are put into. */
export type TextWith = (piece: Markup) => Markup
