import { attempt, issues, ladder, provider } from './en-sign-in.ts'

const frame = {
  skip: 'Skip to the page',
  more: 'More',
  copy: 'Copy',
  infoButton: 'info button',
  copied: 'Copied',
  privacyCentre: 'Privacy centre',
  myDevices: 'My devices',
  back: 'Back',
}

const failure = {
  title: 'That did not work',
  notFound: 'There is nothing at this address.',
  notFoundTitle: 'Nothing here',
  notFoundMore:
    'It may have ended, or the link was cut short on its way to you. If you wanted to sign in to an application, begin again there.',
  toMyDevices: 'See my devices',
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
  whyTitle: 'Why it matters',
  whyMore: (device: string) => `${device} stands for a device; it is invented.`,
  exampleMore: 'The answer of an invented device that fails the check.',
  ownTitle: 'What your devices answered last',
  ownSignIn: 'Sign in to see it',
  ownNone: 'Your devices have not answered this check.',
  moreRows: (count: number) =>
    count === 1 ? 'One more row is in the download.' : `${count} more rows are in the download.`,
  consequence: {
    block_immediately:
      'A device that fails this check cannot be used to sign in until it is fixed.',
    warn_then_block:
      'A device that fails this check is given some days; after them it cannot be used to sign in until it is fixed.',
    notify_only: 'A device that fails this check can go on being used; its owner is told.',
    report_only: 'Nothing follows from this check; its answers are only reported.',
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
  more: (count: number) => `${count} earlier ones wait too.`,
  wrongCode: 'That is not the number that the other page shows.',
}

const browsers = {
  title: 'Your browsers',
  more: 'Each holds a key, so that your device is found faster when you sign in. End what you do not use any more.',
  on: (device: string) => `A browser on ${device}`,
  used: 'last used',
  end: 'End',
  copied: (device: string) =>
    `The key of a browser on ${device} was seen in a second place, so it was ended. If you have not moved to another computer, somebody may have copied your browser: tell your IT team.`,
}

/** Everything that the pages say in English; the other catalogues have the same members. */
export const en = {
  ...frame,
  failure,
  privacy,
  issues,
  attempt,
  ladder,
  provider,
  fix,
  me,
  myData,
  requests,
  browsers,
}

export type Texts = typeof en
